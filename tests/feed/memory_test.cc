// The feed's memory: its byte cap is kept, and no number of batches makes it grow.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "stoker/feed/feed.h"
#include "stoker/observe/resource_use.h"
#include "tests/doubles/sanitizers.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

std::uint64_t held_bytes() { return observe::process_memory(system_io()).held_bytes(); }

TEST(FeedMemoryTest, AllSlotsTogetherStayBelowTheCap) {
  if (kUnderSanitizer) GTEST_SKIP() << "the sanitizer's own memory is counted with the feed's";
  for (const std::uint64_t cap : {24 * kMiB, 48 * kMiB, 96 * kMiB}) {
    SCOPED_TRACE(cap / kMiB);
    const auto store = std::make_shared<SyntheticSource>(speech_like_rows(3000));
    FeedSetup setup = synthetic_setup(store);
    setup.order.batch_frames = 200'000;  // 3.2 MB a batch
    setup.loading.buffer_bytes = cap;
    setup.loading.depth = 10'000;
    setup.loading.num_workers = 4;
    const std::uint64_t before = held_bytes();
    Feed feed(std::move(setup));
    for (unsigned i = 0; i < 2 * feed.max_depth(); ++i) feed.next();
    EXPECT_LE(feed.buffer_bytes(), cap);
    EXPECT_GT(feed.buffer_bytes() + feed.format().slot_bytes(), cap);
    // Scratch of workers, plans and threads beside the slots.
    EXPECT_LE(held_bytes(), before + cap + 8 * kMiB);
  }
}

TEST(FeedMemoryTest, ALowerDepthGivesWayToNothingNew) {
  const auto store = std::make_shared<SyntheticSource>(speech_like_rows(500));
  FeedSetup setup = synthetic_setup(store);
  setup.loading.depth = 20;
  Feed feed(std::move(setup));
  for (int i = 0; i < 40; ++i) feed.next();
  const std::uint64_t deep = feed.buffer_bytes();
  feed.set_depth(2);
  for (int i = 0; i < 40; ++i) feed.next();
  EXPECT_LT(feed.buffer_bytes(), deep / 4);
}

// STOKER_TEST_BATCHES=1000000 runs the long version.
TEST(FeedMemoryTest, DoesNotGrowWithTheNumberOfBatches) {
  const char* const asked = std::getenv("STOKER_TEST_BATCHES");
  const std::uint64_t num_batches = asked == nullptr ? 100'000 : std::strtoull(asked, nullptr, 10);
  if (kUnderSanitizer) GTEST_SKIP() << "the sanitizer's own memory is counted with the feed's";
  const auto store = std::make_shared<SyntheticSource>(speech_like_rows(64));
  FeedSetup setup = synthetic_setup(store);
  setup.order.batch_frames = 1200;
  setup.loading.buffer_bytes = 2 * kMiB;
  setup.loading.depth = 10'000;  // as deep as the memory allows, so that every slot is used at once
  setup.loading.tuned_cores = 2;
  setup.loading.read_ahead_batches = 16;
  Feed feed(std::move(setup));
  std::uint64_t taken = 0;
  const auto take = [&](std::uint64_t until) {
    while (taken < until)
      if (feed.next()) ++taken;
  };
  take(num_batches / 10);
  // A consumer that is always faster, as on a busy machine, has not seen every slot filled yet.
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    take(taken + feed.depth());
  }
  const std::uint64_t before = held_bytes();
  take(num_batches);
  EXPECT_LE(held_bytes(), before + kMiB);
}

}  // namespace
}  // namespace stoker::feed
