#include "stoker/train/checkpoint/checkpoint_state.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "stoker/base/digest/digest.h"
#include "stoker/train/checkpoint/run_folder.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

constexpr std::string_view kBegin = R"({"digest":")";
constexpr std::size_t kDigestDigits = 32;
constexpr std::string_view kByteOrder = "little";

Error bad_state(const std::string& file, std::uint64_t byte, std::string promised,
                std::string found) {
  return {.code = &kCheckpointBad,
          .place = {.file = file, .byte = byte},
          .promised = std::move(promised),
          .found = std::move(found)};
}

// A value that nests deeply or has very many members would take all of the stack or hours to read.
bool is_modest(std::string_view json) {
  constexpr int kMaxDepth = 64;
  constexpr int kMaxMembers = 10'000;
  int depth = 0;
  int num_members = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char next = json[i];
    if (next == '"') in_text = !in_text;
    if (in_text) {
      if (next == '\\') ++i;
      continue;
    }
    if (next == '{' || next == '[') ++depth;
    if (next == '}' || next == ']') --depth;
    if (next == ':') ++num_members;
    if (depth > kMaxDepth || num_members > kMaxMembers) return false;
  }
  return true;
}

// Exact, as Json::number() is not past 2^53.
std::uint64_t whole_number(const Json& json) {
  const std::string digits = json.dump();
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, fault] = std::from_chars(digits.data(), end, value);
  if (fault != std::errc() || stopped != end)
    throw std::out_of_range("JSON: not a whole number: " + digits);
  return value;
}

bool truth(const Json& json) {
  const std::string word = json.dump();
  if (word != "true" && word != "false") throw std::out_of_range("JSON: not true or false");
  return word == "true";
}

double figure_of(const Json& json) {
  return json.dump() == "null" ? std::numeric_limits<double>::quiet_NaN() : json.number();
}

FileSeal seal_from(const Json& json) {
  FileSeal seal{whole_number(json.at("bytes")), json.at("xxh3").text()};
  if (seal.xxh3.size() != kDigestDigits) throw std::out_of_range("JSON: not a digest");
  return seal;
}

std::optional<Error> version_fault(const Json& json, const std::string& file) {
  const std::uint64_t version = whole_number(json.at("version"));
  constexpr auto kOurs = static_cast<std::uint64_t>(kCheckpointFormat);
  if (version > kOurs)
    return Error{.code = &kCheckpointVersion,
                 .place = {.file = file},
                 .promised = fmt::format("version {} or older", kOurs),
                 .found = fmt::format("version {}", version)};
  if (version < kOurs)
    return bad_state(file, kBegin.size() + kDigestDigits, fmt::format("version {}", kOurs),
                     fmt::format("version {}", version));
  const std::string& byte_order = json.at("byte_order").text();
  if (byte_order == kByteOrder) return std::nullopt;
  return Error{.code = &kCheckpointVersion,
               .place = {.file = file},
               .promised = fmt::format("byte order '{}'", kByteOrder),
               .found = fmt::format("'{}'", byte_order)};
}

// Throws std::out_of_range for what is not there or of another kind.
CheckpointState state_from(const Json& json) {
  CheckpointState out;
  out.step = whole_number(json.at("step"));
  out.figure = figure_of(json.at("figure"));
  out.is_evaluated = truth(json.at("evaluated"));
  for (const std::string_view name : kTensorNames)
    out.files.emplace(name, seal_from(json.at("files").at(name)));
  out.state = json.at("state");
  return out;
}

}  // namespace

std::string render_state(const CheckpointState& state) {
  Json files = Json::object();
  for (const auto& [name, seal] : state.files)
    files[name] = Json{{"bytes", seal.size_bytes}, {"xxh3", seal.xxh3}};
  const Json json{
      {"version", kCheckpointFormat}, {"byte_order", kByteOrder},        {"step", state.step},
      {"figure", state.figure},       {"evaluated", state.is_evaluated}, {"files", files},
      {"state", state.state}};
  const std::string rest = "\"," + json.dump().substr(1) + "\n";
  return std::string(kBegin) + digest_of(rest).hex() + rest;
}

Result<CheckpointState> parse_state(std::string_view text, const std::string& file) {
  if (!text.starts_with(kBegin) || text.size() < kBegin.size() + kDigestDigits)
    return bad_state(file, 0, fmt::format("{} and a digest", kBegin), "another beginning");
  const std::string_view digest = text.substr(kBegin.size(), kDigestDigits);
  const std::size_t rest_at = kBegin.size() + kDigestDigits;
  const std::string computed = digest_of(text.substr(rest_at)).hex();
  if (digest != computed)
    return bad_state(file, rest_at, fmt::format("bytes of digest {}", digest),
                     fmt::format("{} bytes of digest {}", text.size() - rest_at, computed));
  if (!is_modest(text))
    return bad_state(file, rest_at, "at most 64 levels and 10,000 members", "more");
  const std::optional<Json> json = Json::parse(text);
  if (!json) return bad_state(file, rest_at, "JSON", "something else");
  try {
    if (std::optional<Error> fault = version_fault(*json, file)) return std::move(*fault);
    return state_from(*json);
  } catch (const std::out_of_range& fault) {
    return bad_state(file, rest_at, "the members of a checkpoint's state", fault.what());
  }
}

}  // namespace stoker::train
