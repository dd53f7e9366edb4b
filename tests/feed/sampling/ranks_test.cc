// Rank and world size: from the settings, else from whatever launched the process.
#include "stoker/feed/sampling/ranks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "stoker/feed/feed.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

// Sets variables for one test and takes them away again.
class Environment {
 public:
  explicit Environment(std::vector<std::pair<const char*, const char*>> values)
      : values_(std::move(values)) {
    for (const auto& [name, value] : values_) setenv(name, value, 1);
  }
  ~Environment() {
    for (const auto& [name, value] : values_) unsetenv(name);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::vector<std::pair<const char*, const char*>> values_;
};

std::vector<std::string> ids_of(Feed feed) {
  std::vector<std::string> ids;
  while (const auto batch = feed.next())
    for (std::size_t row = 0; row < batch->num_rows(); ++row)
      if (!batch->id(row).empty()) ids.emplace_back(batch->id(row));
  return ids;
}

TEST(RankEnvironmentTest, EveryLauncherIsHeardByAFeedOpenedInCode) {
  const SmallDataSet set(20);
  const FeedOptions options{.data = set.folder().path(), .batch_frames = 600};
  FeedOptions second = options;
  second.rank = 1;
  second.world_size = 2;
  const std::vector<std::string> expected = ids_of(Feed::open(second));
  EXPECT_LT(expected.size(), ids_of(Feed::open(options)).size());
  const std::vector<std::pair<const char*, const char*>> launchers{
      {"RANK", "WORLD_SIZE"},
      {"SLURM_PROCID", "SLURM_NTASKS"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}};
  for (const auto& [rank, world] : launchers) {
    const Environment environment({{rank, "1"}, {world, "2"}});
    EXPECT_EQ(ids_of(Feed::open(options)), expected) << rank;
    FeedOptions first = second;
    first.rank = 0;
    EXPECT_NE(ids_of(Feed::open(first)), expected) << "what the program says wins over " << rank;
  }
}

TEST(RankEnvironmentTest, WhatIsNoNumberIsNotHeard) {
  const Environment environment({{"RANK", "one"}, {"WORLD_SIZE", "2x"}, {"SLURM_NTASKS", "4"}});
  const RankRows ranks = ranks_of({});
  EXPECT_EQ(ranks.rank, 0U);
  EXPECT_EQ(ranks.world_size, 4U) << "the next launcher is asked";
}

}  // namespace
}  // namespace stoker::feed
