#include "stoker/feed/feed_state.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {
namespace {

constexpr std::string_view kHead = R"({"v":"3-)";
constexpr std::string_view kHeadOfVersion1 = R"({"v":1,)";
constexpr std::string_view kHeadOfVersion2 = R"({"v":"2-)";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kPathLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t kSumDigits = 8;
constexpr std::size_t kDigestDigits = 16;
constexpr std::size_t kMostPathLetters = 16;
// Seeds from here on are written to base 36, which leaves room for the place.
constexpr std::uint64_t kLongSeed = 10'000'000'000;
constexpr int kLongSeedBase = 36;

[[noreturn]] void refuse(std::string_view expected, std::string_view found, std::string cure = {}) {
  raise({.code = &kFeedState,
         .promised = std::string(expected),
         .found = std::string(found),
         .cure = std::move(cure)});
}

std::string sum_text(std::string_view covered) {
  return fmt::format("{:08x}", crc32c(view_bytes(covered)));
}

std::string seed_text(std::uint64_t seed) {
  if (seed < kLongSeed) return std::to_string(seed);
  std::array<char, 16> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), seed, kLongSeedBase).ptr;
  return fmt::format("\"{}\"", std::string_view(digits.data(), end));
}

// Takes the line apart from the front: there is one way to write a state, so anything else is no
// state. No key can come twice, be left out or be added.
class StateScanner {
 public:
  explicit StateScanner(std::string_view rest) : rest_(rest) {}

  void expect(std::string_view literal) {
    if (!rest_.starts_with(literal)) refuse(fmt::format("{} at its place", literal), "another key");
    rest_.remove_prefix(literal.size());
  }

  std::string digest() {
    const std::string_view digits = take_while(kHexDigits);
    if (digits.size() != kDigestDigits) refuse("digests of 16 hexadecimal digits", "another value");
    return std::string(digits);
  }

  std::string path() {
    const std::string_view word = take_while(kPathLetters);
    if (word.empty() || word.size() > kMostPathLetters) refuse("a word as path", "another value");
    return std::string(word);
  }

  std::uint64_t seed() {
    if (!rest_.starts_with('"')) return number("seed", kLongSeed);
    expect("\"");
    const std::string_view digits = take_while(kPathLetters);
    std::uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [read_to, fault] = std::from_chars(digits.data(), end, value, kLongSeedBase);
    const bool is_whole = fault == std::errc() && read_to == end && !digits.empty();
    if (!is_whole || seed_text(value) != fmt::format("\"{}\"", digits))
      refuse("a number as seed", "another value");
    expect("\"");
    return value;
  }

  // In its shortest form, below `end`.
  std::uint64_t number(const char* key, std::uint64_t end) {
    const std::string_view digits = take_while("0123456789");
    std::uint64_t value = 0;
    const auto [read_to, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (fault != std::errc() || digits != std::to_string(value) || value >= end)
      refuse(fmt::format("a whole number below {} as {}", end, key), "another value");
    return value;
  }

  void expect_end() const {
    if (!rest_.empty()) refuse("one line and nothing behind it", "further bytes");
  }

 private:
  std::string_view take_while(std::string_view letters) {
    const std::size_t end = std::min(rest_.find_first_not_of(letters), rest_.size());
    const std::string_view taken = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return taken;
  }

  std::string_view rest_;
};

// Checks the head with its checksum; returns the bytes that the checksum covers.
std::string_view checked_rest(std::string_view line) {
  if (line.empty()) refuse("one line of JSON", "an empty state");
  if (line.starts_with(kHeadOfVersion1)) {
    refuse("version 3, whose line has a checksum", "version 1, whose place cannot be checked",
           "start without the state; stream --from-batch goes to a batch by its number");
  }
  if (line.starts_with(kHeadOfVersion2)) {
    refuse("version 3 of the state, which counts batches of the present order",
           "version 2: the order of batches has changed since it was saved, so its batch holds "
           "other utterances now",
           "start its epoch anew: without the state, or with stream --from-batch at the epoch's "
           "first batch");
  }
  const std::size_t head_bytes = kHead.size() + kSumDigits;
  if (!line.starts_with(kHead) || line.size() < head_bytes)
    refuse(fmt::format("a line that begins with {}", kHead), "another text");
  const std::string_view sum = line.substr(kHead.size(), kSumDigits);
  const std::string_view rest = line.substr(head_bytes);
  if (const std::string found = sum_text(rest); found != sum)
    refuse(fmt::format("checksum {}", sum), fmt::format("{}: the line was changed", found));
  return rest;
}

}  // namespace

std::string state_line(const FeedState& state) {
  const FeedIdentity& who = state.identity;
  const std::string rest = fmt::format(
      R"(","data":"{}","order":"{}","feature":"{}","text":"{}","path":"{}","seed":{},"epoch":{},"batch":{}}})",
      who.data, who.order, who.feature, who.text, who.path, seed_text(who.seed),
      state.position.epoch, state.position.batch);
  return fmt::format("{}{}{}", kHead, sum_text(rest), rest);
}

FeedState parse_state(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  StateScanner scanner(checked_rest(line));
  FeedState state;
  scanner.expect(R"(","data":")");
  state.identity.data = scanner.digest();
  scanner.expect(R"(","order":")");
  state.identity.order = scanner.digest();
  scanner.expect(R"(","feature":")");
  state.identity.feature = scanner.digest();
  scanner.expect(R"(","text":")");
  state.identity.text = scanner.digest();
  scanner.expect(R"(","path":")");
  state.identity.path = scanner.path();
  scanner.expect(R"(","seed":)");
  state.identity.seed = scanner.seed();
  scanner.expect(R"(,"epoch":)");
  state.position.epoch = scanner.number("epoch", kEndEpoch);
  scanner.expect(R"(,"batch":)");
  state.position.batch = scanner.number("batch", kEndBatch);
  scanner.expect("}");
  scanner.expect_end();
  return state;
}

void check_same(const FeedIdentity& saved, const FeedIdentity& now) {
  std::string promised, found;
  const auto compare = [&](const char* what, const std::string& had, const std::string& has) {
    if (had == has) return;
    promised += fmt::format("{}{} {}", promised.empty() ? "" : ", ", what, had);
    found += fmt::format("{}{} {}", found.empty() ? "" : ", ", what, has);
  };
  compare("data", saved.data, now.data);
  compare("order settings", saved.order, now.order);
  compare("feature settings", saved.feature, now.feature);
  compare("text settings", saved.text, now.text);
  compare("numeric path", saved.path, now.path);
  compare("seed", std::to_string(saved.seed), std::to_string(now.seed));
  if (!found.empty())
    raise({.code = &kFeedChanged, .promised = promised + " as in the state", .found = found});
}

}  // namespace stoker::feed
