// Saved states: short, strict, refused when something differs, exact at every batch.
#include "stoker/feed/feed_state.h"

#include <gtest/gtest.h>

#include <limits>

#include "stoker/feed/errors.h"
#include "stoker/feed/feed.h"
#include "tests/feed/synthetic_store.h"

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

TEST(FeedStateTest, RoundTripsInOneShortLine) {
  const std::string line = state_line(example());
  EXPECT_EQ(line, R"({"v":1,"data":"00112233445566aa","order":"00112233445566bb",)"
                  R"("feature":"00112233445566cc","text":"00112233445566dd","path":"avx512",)"
                  R"("seed":42,"epoch":3,"batch":17})");
  EXPECT_EQ(parse_state(line).identity, example().identity);
  EXPECT_EQ(parse_state(line + "\n").position, example().position);
  EXPECT_LE(line.size(), kMaxStateBytes);
}

TEST(FeedStateTest, TheLargestRunStillFits) {
  FeedState largest = example();
  largest.identity.seed = std::numeric_limits<std::int64_t>::max();
  largest.position = {999'999, 9'999'999'999};
  EXPECT_LE(state_line(largest).size(), kMaxStateBytes);
}

TEST(FeedStateTest, RefusesEverythingElse) {
  const std::string good = state_line(example());
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string line = good;
    line.replace(line.find(from), from.size(), to);
    return line;
  };
  for (const std::string& line :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"),
        good.substr(0, good.size() - 3), good + good, broken("\"v\":1", "\"v\":2"),
        broken("00112233445566aa", "00112233445566AA"), broken("00112233445566aa", "0011"),
        broken("\"epoch\":3", "\"epoch\":-3"), broken("\"epoch\":3", "\"epoch\":3.5"),
        broken("\"batch\":17", "\"batch\":\"17\""), broken("\"seed\":42,", ""),
        broken("\"seed\":42", "\"seed\":42,\"more\":1"), std::string(5000, '{')}) {
    EXPECT_THROW(parse_state(line), ConfigError) << line;
  }
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
    EXPECT_EQ(failure.error().found, "now data ffffffffffffffff, text settings eeeeeeeeeeeeeeee");
  }
}

TEST(FeedStateTest, ResumesExactlyAtEveryBatchOfTwoEpochsWithOtherWorkers) {
  const auto store = std::make_shared<SyntheticStore>(speech_like_rows(48));
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
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticStore>(speech_like_rows(200)));
  setup.loading.depth = 8;
  Feed feed(std::move(setup));
  EXPECT_EQ(feed.position(), (FeedPosition{0, 0}));
  const auto held = feed.next();
  EXPECT_EQ(feed.position(), (FeedPosition{0, 1}));
}

TEST(FeedStateTest, SeekCountsOverEpochs) {
  const auto store = std::make_shared<SyntheticStore>(speech_like_rows(48));
  Feed feed(synthetic_setup(store));
  const std::uint64_t first = feed.num_batches();
  feed.seek({0, first + 2});
  const auto batch = feed.next();
  EXPECT_EQ(batch->epoch(), 1U);
  EXPECT_EQ(batch->index(), 2U);
}

}  // namespace
}  // namespace stoker::feed
