// Saved states: short, strict, refused when something differs, exact at every batch.
#include "stoker/feed/feed_state.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/feed.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

FeedState example() {
  return {{.data = "00112233445566aa",
           .order = "00112233445566bb",
           .feature = "00112233445566cc",
           .text = "00112233445566dd",
           .path = "avx512",
           .seed = 42},
          {.epoch = 3, .batch = 17}};
}

constexpr const char* kExampleLine =
    R"({"v":"3-73835966","data":"00112233445566aa","order":"00112233445566bb",)"
    R"("feature":"00112233445566cc","text":"00112233445566dd","path":"avx512",)"
    R"("seed":42,"epoch":3,"batch":17})";

// The bytes behind the checksum, with a checksum that is right.
std::string sealed(const std::string& rest) {
  std::ostringstream line;
  line << R"({"v":"3-)" << std::hex << std::setw(8) << std::setfill('0') << crc32c(view_bytes(rest))
       << rest;
  return line.str();
}

std::string changed(const std::string& from, const std::string& to) {
  std::string rest = std::string(kExampleLine).substr(16);
  return sealed(rest.replace(rest.find(from), from.size(), to));
}

TEST(FeedStateTest, RoundTripsInOneShortLine) {
  const std::string line = state_line(example());
  EXPECT_EQ(line, kExampleLine);
  EXPECT_EQ(parse_state(line).identity, example().identity);
  EXPECT_EQ(parse_state(line + "\n").position, example().position);
  EXPECT_LE(line.size(), kMaxStateBytes);
}

TEST(FeedStateTest, TheVectorsOfThePageAreReadAndWrittenAgain) {
  std::ifstream page(STOKER_SOURCE_DIR "/docs/format/state.md");
  std::vector<std::string> vectors;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with(R"({"v":"3-)") && line.find("…") == std::string::npos)
      vectors.push_back(line);
  ASSERT_EQ(vectors.size(), 2U);
  EXPECT_EQ(vectors[0], kExampleLine);
  for (const std::string& line : vectors) EXPECT_EQ(state_line(parse_state(line)), line);
  EXPECT_EQ(parse_state(vectors[1]).identity.seed, 9'223'372'036'854'775'807U);
  EXPECT_EQ(parse_state(vectors[1]).identity.path, "scalar");
}

TEST(FeedStateTest, LongSeedsAndFarPlacesFit) {
  FeedState far = example();
  for (const std::uint64_t seed :
       {std::uint64_t{0}, std::uint64_t{9'999'999'999}, std::uint64_t{10'000'000'000},
        std::uint64_t{std::numeric_limits<std::int64_t>::max()},
        std::numeric_limits<std::uint64_t>::max()}) {
    far.identity.seed = seed;
    far.position = {9'999, 99'999};
    EXPECT_LE(state_line(far).size(), kMaxStateBytes) << seed;
    EXPECT_EQ(parse_state(state_line(far)).identity, far.identity);
    far.position = {kEndEpoch - 1, kEndBatch - 1};
    far.identity.path = "imported";
    EXPECT_LE(state_line(far).size(), 205U) << seed;
    EXPECT_EQ(parse_state(state_line(far)).position, far.position);
    far.identity.path = "avx512";
  }
}

TEST(FeedStateTest, NoChangedByteAndNoChangedBitIsAccepted) {
  for (const std::string& end : {std::string(), std::string("\n")}) {
    const std::string good = kExampleLine + end;
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        std::string line = good;
        line[at] = static_cast<char>(value);
        if (line == good) continue;
        EXPECT_THROW(parse_state(line), ConfigError) << at << " " << value;
      }
    }
  }
}

TEST(FeedStateTest, NoCutAndNoInsertedByteIsAccepted) {
  const std::string good = kExampleLine;
  for (std::size_t at = 0; at < good.size(); ++at) {
    EXPECT_THROW(parse_state(good.substr(0, at)), ConfigError) << at;
    for (const char byte : {'0', '1', ' ', '"', ',', 'a', '\n', '\0'}) {
      std::string line = good;
      line.insert(at, 1, byte);
      EXPECT_THROW(parse_state(line), ConfigError) << at << " " << int{byte};
    }
  }
  for (const char* behind : {"\n\n", "\r\n", " ", "x", "}", "\n{}"})
    EXPECT_THROW(parse_state(good + behind), ConfigError) << behind;
}

TEST(FeedStateTest, RefusesEverythingElseEvenWithItsChecksum) {
  ASSERT_NO_THROW(parse_state(changed("\"batch\":17", "\"batch\":18")));
  for (const std::string& line : {std::string(),
                                  std::string("\n"),
                                  std::string("{"),
                                  std::string("[]"),
                                  std::string("null"),
                                  changed("00112233445566aa", "00112233445566AA"),
                                  changed("00112233445566aa", "0011"),
                                  changed("\"epoch\":3", "\"epoch\":-3"),
                                  changed("\"epoch\":3", "\"epoch\":3.5"),
                                  changed("\"epoch\":3", "\"epoch\":03"),
                                  changed("\"epoch\":3", "\"epoch\":3e1"),
                                  changed("\"epoch\":3", "\"epoch\":4294967296"),
                                  changed("\"epoch\":3", "\"epoch\":18446744073709551615"),
                                  changed("\"epoch\":3", "\"epoch\":18446744073709551619"),
                                  changed("\"batch\":17", "\"batch\":\"17\""),
                                  changed("\"batch\":17", "\"batch\":1000000000000"),
                                  changed("\"batch\":17", "\"batch\":17,\"batch\":18"),
                                  changed("\"batch\":17", "\"batch\": 17"),
                                  changed("\"seed\":42,", ""),
                                  changed("\"seed\":42", "\"seed\":42,\"more\":1"),
                                  changed("\"seed\":42", "\"seed\":\"16\""),
                                  changed("\"seed\":42", "\"seed\":\"\""),
                                  changed("\"seed\":42", "\"seed\":10000000000"),
                                  changed("avx512", ""),
                                  changed("avx512", "avx\\u0035"),
                                  std::string(5000, '{')}) {
    EXPECT_THROW(parse_state(line), ConfigError) << line;
  }
}

TEST(FeedStateTest, RefusalsNameTheirReason) {
  const auto found_in = [](const std::string& line) {
    try {
      parse_state(line);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &kFeedState);
      return failure.error().promised + ", " + failure.error().found;
    }
    return std::string("accepted");
  };
  EXPECT_NE(found_in("").find("an empty state"), std::string::npos);
  EXPECT_NE(found_in(R"({"v":1,"data":"00112233445566aa"})").find("version 1"), std::string::npos);
  std::string of_the_old_order = kExampleLine;
  of_the_old_order.replace(of_the_old_order.find("3-"), 2, "2-");
  EXPECT_NE(found_in(of_the_old_order).find("the order of batches has changed"), std::string::npos);
  std::string flipped = kExampleLine;
  flipped[flipped.size() - 2] = '8';
  EXPECT_NE(found_in(flipped).find("checksum 73835966"), std::string::npos);
}

TEST(FeedStateTest, RefusalNamesEveryGroupThatDiffers) {
  FeedIdentity now = example().identity;
  EXPECT_NO_THROW(check_same(example().identity, now));
  now.data = "ffffffffffffffff";
  now.text = "eeeeeeeeeeeeeeee";
  try {
    check_same(example().identity, now);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedChanged);
    EXPECT_EQ(failure.error().found, "data ffffffffffffffff, text settings eeeeeeeeeeeeeeee");
  }
}

TEST(FeedStateTest, ResumesExactlyAtEveryBatchOfTwoEpochsWithOtherWorkers) {
  const auto store = std::make_shared<SyntheticSource>(speech_like_rows(48));
  std::vector<std::string> states, digests;
  Feed whole(synthetic_setup(store));
  for (int epoch = 0; epoch < 2; ++epoch) {
    states.push_back(whole.state());
    while (const auto batch = whole.next()) {
      digests.push_back(batch->content_digest().hex());
      states.push_back(whole.state());
    }
    digests.push_back("end of epoch");
  }
  for (std::size_t at = 0; at < states.size(); ++at) {
    FeedSetup setup = synthetic_setup(store);
    setup.loading.num_workers = static_cast<unsigned>(at % 5);
    setup.loading.depth = static_cast<unsigned>(1 + at % 3);
    const Stopwatch watch;
    Feed feed(std::move(setup));
    feed.restore(states[at]);
    EXPECT_EQ(feed.state(), states[at]);
    std::vector<std::string> rest;
    int ends = 0;
    const int ends_left = feed.position().epoch == 0 ? 2 : 1;
    while (ends < ends_left) {
      const auto batch = feed.next();
      if (rest.empty()) {
        EXPECT_LT(watch.seconds(), 0.5);
      }
      rest.push_back(batch ? batch->content_digest().hex() : "end of epoch");
      if (!batch) ++ends;
    }
    const std::vector<std::string> expected(
        digests.end() - static_cast<std::ptrdiff_t>(rest.size()), digests.end());
    EXPECT_EQ(rest, expected) << "state " << at << ": " << states[at];
  }
}

TEST(FeedStateTest, BatchesInFlightAreNotCounted) {
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(200)));
  setup.loading.depth = 8;
  Feed feed(std::move(setup));
  EXPECT_EQ(feed.position(), (FeedPosition{0, 0}));
  const auto held = feed.next();
  EXPECT_EQ(feed.position(), (FeedPosition{0, 1}));
}

TEST(FeedStateTest, APlaceThatTheEpochDoesNotHaveIsRefusedAndNothingMoves) {
  const auto store = std::make_shared<SyntheticSource>(speech_like_rows(48));
  Feed feed(synthetic_setup(store));
  feed.next();
  const std::uint64_t num_batches = feed.num_batches();
  FeedState saved{feed.identity(), {0, num_batches}};
  EXPECT_NO_THROW(feed.restore(state_line(saved)));
  EXPECT_EQ(feed.position(), (FeedPosition{0, num_batches}));
  const Stopwatch watch;
  for (const FeedPosition& beyond :
       {FeedPosition{0, num_batches + 1}, FeedPosition{7, 99'999}, FeedPosition{0, kEndBatch - 1},
        FeedPosition{kEndEpoch - 1, num_batches + 1}}) {
    saved.position = beyond;
    EXPECT_THROW(feed.restore(state_line(saved)), ConfigError)
        << beyond.epoch << " " << beyond.batch;
    FeedSetup setup = synthetic_setup(store);
    setup.start = beyond;
    EXPECT_THROW(Feed refused(std::move(setup)), ConfigError);
  }
  EXPECT_LT(watch.seconds(), 20.0);
  EXPECT_EQ(feed.position(), (FeedPosition{0, num_batches}));
  EXPECT_FALSE(feed.next());  // the end of epoch 0, as if nothing had been asked
  EXPECT_EQ(feed.next()->epoch(), 1U);
}

TEST(FeedStateTest, TheLastEpochIsTheOneBeforeDrawsRepeat) {
  Feed feed(synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(8))));
  feed.seek({kEndEpoch - 2, 0});
  while (feed.next()) {
  }
  EXPECT_TRUE(feed.has_ended());
  const std::string state = feed.state();
  EXPECT_EQ(parse_state(state).position, (FeedPosition{kEndEpoch - 1, 0}));
  EXPECT_NO_THROW(feed.restore(state));
  EXPECT_FALSE(feed.next());
}

TEST(FeedStateTest, SeekCountsOverEpochs) {
  const auto store = std::make_shared<SyntheticSource>(speech_like_rows(48));
  Feed feed(synthetic_setup(store));
  const std::uint64_t first = feed.num_batches();
  feed.seek({0, first + 2});
  const auto batch = feed.next();
  EXPECT_EQ(batch->epoch(), 1U);
  EXPECT_EQ(batch->index(), 2U);
}

}  // namespace
}  // namespace stoker::feed
