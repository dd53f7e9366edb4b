// The place of a feed as other threads see it: a checkpoint may be written while a batch is taken.
#include "stoker/feed/feed_place.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <tuple>

#include "stoker/feed/feed.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kStride = 1'000;  // batches of an epoch are told from those of others
constexpr std::uint64_t kBatchesEach = 3;
constexpr std::uint64_t kLooks = 5'000'000;

TEST(FeedPlaceTest, NobodySeesTheEpochOfOnePlaceWithTheBatchOfAnother) {
  FeedPlace place;
  std::atomic<bool> is_over{false};
  std::uint64_t num_torn = 0;
  std::jthread reader([&] {
    FeedPosition last;
    for (std::uint64_t i = 0; i < kLooks; ++i) {
      const FeedPosition at = place.now();
      const bool is_behind = std::tie(at.epoch, at.batch) < std::tie(last.epoch, last.batch);
      if (at.batch / kStride != at.epoch || is_behind) ++num_torn;
      last = at;
    }
    is_over.store(true);
  });
  for (std::uint64_t epoch = 1; !is_over.load(); ++epoch) {
    place.set({epoch, epoch * kStride});
    for (std::uint64_t i = 0; i < kBatchesEach; ++i) place.to_next_batch();
  }
  reader.join();
  EXPECT_EQ(num_torn, 0U);
}

TEST(FeedPlaceTest, AStateAskedForWhileBatchesAreTakenCanBeGoneOnFrom) {
  const auto setup = [] {
    return synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60)));
  };
  Feed feed(setup());
  Feed other(setup());
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> num_restored{0};
  std::jthread checkpoints([&] {
    while (!is_over.load()) {
      ASSERT_GT(feed.num_batches(), 0U);
      ASSERT_NO_THROW(other.restore(feed.state()));
      num_restored.fetch_add(1);
    }
  });
  while (num_restored.load() < 20) {
    while (feed.next()) {
    }
    if (num_restored.load() % 5 == 4) feed.seek({feed.position().epoch + 3, 1});
  }
  is_over.store(true);
}

}  // namespace
}  // namespace stoker::feed
