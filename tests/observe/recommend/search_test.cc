// The search on planted response surfaces: it must come within 5 % of the best of the whole grid,
// with noise, and within its budget.
#include "stoker/observe/recommend/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "stoker/base/philox.h"
#include "tests/doubles/fake_clock.h"

namespace stoker::observe {
namespace {

using Surface = std::function<double(const FeedChoice&)>;

struct PlantedCase {
  const char* name;
  unsigned most_workers;
  Surface rate;
};

double saturating(double one, double most, unsigned count) { return std::min(one * count, most); }

// Mels from the cache: the memory's rate ends the gain of workers.
double memory_bound(const FeedChoice& at) {
  const double tier = at.tier == FeedTier::kFiles ? 0.1 : at.tier == FeedTier::kPcm ? 0.2 : 1.0;
  const double shallow = at.depth < at.num_workers ? 0.6 : 1.0;
  return tier * shallow * saturating(9000, 50'000, at.num_workers);
}

// Too many workers fight for a quota; depth beyond 8 falls out of the processor's cache.
double falling(const FeedChoice& at) {
  const double tier = at.tier == FeedTier::kMemory ? 1.2 : at.tier == FeedTier::kCached ? 1 : 0.3;
  const double over = at.num_workers > 6 ? 1 - 0.04 * (at.num_workers - 6) : 1;
  const double deep = at.depth > 8 ? 0.8 : 1;
  return 4000.0 * tier * deep * over * std::min(at.num_workers, 6U);
}

// Storage that sleeps: files are as good as anything, workers always help.
double sleeping(const FeedChoice& at) {
  return 100.0 * at.num_workers * (at.depth < 2 * at.num_workers ? 0.7 : 1);
}

double single(const FeedChoice& at) { return at.tier == FeedTier::kCached ? 5000 : 500; }

class SearchTest : public testing::TestWithParam<PlantedCase> {
 protected:
  static constexpr unsigned kMostDepth = 32;
  static SearchOptions options() {
    return {.tiers = {FeedTier::kFiles, FeedTier::kCached, FeedTier::kPcm, FeedTier::kMemory},
            .most_workers = GetParam().most_workers,
            .most_depth = kMostDepth,
            .budget_s = 60};
  }
  static double best_of_grid() {
    double best = 0;
    for (const FeedTier tier : options().tiers)
      for (unsigned workers = 1; workers <= GetParam().most_workers; ++workers)
        for (unsigned depth = 2; depth <= kMostDepth; depth *= 2)
          best = std::max(best, GetParam().rate({tier, workers, depth}));
    return best;
  }
};

TEST_P(SearchTest, FindsTheBestOfTheGridDespiteNoise) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    FakeClock clock;
    KeyedDraws draws({seed, "noise", 0, 0});
    SearchOptions given = options();
    given.clock = &clock;
    const SearchResult found = search_choices(given, [&](const FeedChoice& at, double seconds) {
      clock.advance(std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds)));
      const double noise = 0.94 + 0.12 * static_cast<double>(draws.next_below(1000)) / 1000;
      return std::optional(noise * GetParam().rate(at));
    });
    ASSERT_TRUE(found.best);
    EXPECT_GE(GetParam().rate(found.best->choice), 0.95 * best_of_grid())
        << "seed " << seed << ": " << name_of(found.best->choice.tier) << ", "
        << found.best->choice.num_workers << " workers, depth " << found.best->choice.depth;
    EXPECT_LE(found.seconds, 61);
    EXPECT_GE(found.best->rates.size(), 3U) << "what is recommended was confirmed";
  }
}

INSTANTIATE_TEST_SUITE_P(Surfaces, SearchTest,
                         testing::Values(PlantedCase{"memory_bound", 16, memory_bound},
                                         PlantedCase{"falling", 16, falling},
                                         PlantedCase{"sleeping", 8, sleeping},
                                         PlantedCase{"many_cores", 96, memory_bound},
                                         PlantedCase{"one_core", 1, single},
                                         PlantedCase{"two_cores", 2, memory_bound}),
                         [](const auto& row) { return std::string(row.param.name); });

// A virtual machine whose neighbour takes a third of the speed for a second or two at a time: what
// is 7 % faster is found all the same, for the runs that are compared were taken side by side.
TEST(SearchChoicesTest, ASlowSecondDoesNotDecide) {
  int num_missed = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    FakeClock clock;
    KeyedDraws draws({seed, "neighbour", 0, 0});
    const Stopwatch watch(clock);
    double ends_s = 0;
    double speed = 1;
    const auto run = [&](const FeedChoice& at, double seconds) {
      clock.advance(std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds)));
      if (watch.seconds() > ends_s) {
        ends_s = watch.seconds() + 0.5 + static_cast<double>(draws.next_below(2000)) / 1000;
        speed = draws.next_below(2) == 0 ? 0.7 : 1;
      }
      const double noise = 0.95 + 0.1 * static_cast<double>(draws.next_below(1000)) / 1000;
      const double deep = at.depth >= 32 ? 1.07 : 1;
      const double tier = at.tier == FeedTier::kFiles ? 0.07 : 1;
      return std::optional(speed * noise * deep * tier * 1e6 * (at.num_workers > 1 ? 1 : 0.8));
    };
    const SearchResult found =
        search_choices({.tiers = {FeedTier::kFiles, FeedTier::kCached, FeedTier::kMemory},
                        .most_workers = 2,
                        .budget_s = 30,
                        .clock = &clock},
                       run);
    ASSERT_TRUE(found.best);
    const FeedChoice& choice = found.best->choice;
    num_missed += choice.depth < 32 || choice.num_workers < 2 || choice.tier == FeedTier::kFiles;
  }
  EXPECT_LE(num_missed, 5) << "of 50";
}

TEST(SearchChoicesTest, AmongEqualsTheCheapestWins) {
  FakeClock clock;
  const SearchResult found = search_choices(
      {.tiers = {FeedTier::kCached, FeedTier::kMemory},
       .most_workers = 8,
       .budget_s = 20,
       .clock = &clock},
      [&](const FeedChoice&, double seconds) {
        clock.advance(std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds)));
        return std::optional(1000.0);
      });
  ASSERT_TRUE(found.best);
  EXPECT_EQ(found.best->choice.tier, FeedTier::kCached);
  EXPECT_EQ(found.best->choice.num_workers, 1U);
  EXPECT_EQ(found.best->choice.depth, least_depth(1));
}

TEST(SearchChoicesTest, ATierThatCannotRunIsLeftOut) {
  FakeClock clock;
  const auto run = [&](const FeedChoice& at, double seconds) -> std::optional<double> {
    clock.advance(std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds)));
    if (at.tier == FeedTier::kCached) return std::nullopt;
    return 10.0 * at.num_workers;
  };
  const SearchResult found = search_choices(
      {.tiers = {FeedTier::kCached, FeedTier::kFiles}, .most_workers = 2, .clock = &clock}, run);
  ASSERT_TRUE(found.best);
  EXPECT_EQ(found.best->choice.tier, FeedTier::kFiles);
  EXPECT_EQ(found.best->choice.num_workers, 2U);
  const SearchResult none =
      search_choices({.tiers = {FeedTier::kCached}, .most_workers = 2, .clock = &clock}, run);
  EXPECT_FALSE(none.best);
}

TEST(SearchChoicesTest, ATinyBudgetStillTriesSomething) {
  FakeClock clock;
  const SearchResult found = search_choices({.tiers = {FeedTier::kFiles, FeedTier::kCached},
                                             .most_workers = 64,
                                             .budget_s = 0.01,
                                             .clock = &clock},
                                            [&](const FeedChoice&, double) {
                                              clock.advance(std::chrono::seconds(1));
                                              return std::optional(1.0);
                                            });
  ASSERT_TRUE(found.best);
  EXPECT_LE(found.seconds, 6);
}

}  // namespace
}  // namespace stoker::observe
