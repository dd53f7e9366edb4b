// A ring whose length nobody set: it grows while batches flow, within the memory allowed.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "stoker/cuda/errors.h"
#include "tests/feed/device/simulated_device.h"

namespace stoker::feed {
namespace {

FeedSetup setup_for(SimulatedGpu& gpu, const DeviceCase& wanted) {
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60)));
  const std::shared_ptr<DeviceSetup> device = simulated_device(gpu, wanted);
  device->is_buffer_tuned = true;
  setup.device = device;
  return setup;
}

struct Uploader {
  explicit Uploader(SimulatedGpu& gpu, std::uint64_t memory_slots = 20) {
    const FeedSetup setup = setup_for(gpu, {});
    const Sampler order(setup.rows, setup.order);
    auto format = std::make_shared<BatchFormat>(make_format(setup, order));
    DeviceSetup device = *setup.device;
    device.memory_bytes = memory_slots * DeviceRing::slot_bytes(*format) + 1000;
    fallbacks = device.fallbacks;
    work = std::make_unique<DeviceUploader>(std::move(format), device, setup.rows.size());
  }
  std::shared_ptr<Fallbacks> fallbacks;
  std::unique_ptr<DeviceUploader> work;
};

TEST(RingGrowthTest, GrowsWithinTheMemoryAllowedAndNeverShrinks) {
  SimulatedGpu gpu;
  const Uploader made(gpu);
  EXPECT_EQ(made.work->budget().num_slots, 4U);
  EXPECT_EQ(made.work->budget().most_slots, 20U);
  made.work->grow_ring(8);
  EXPECT_EQ(made.work->budget().num_slots, 8U);
  made.work->grow_ring(2);
  EXPECT_EQ(made.work->budget().num_slots, 8U);
  made.work->grow_ring(1000);
  EXPECT_EQ(made.work->budget().num_slots, 20U);
  EXPECT_LE(made.work->budget().total_bytes(), made.work->budget().allowed_bytes);
  EXPECT_EQ(gpu.allocated_bytes(), made.work->budget().total_bytes());
  EXPECT_TRUE(made.fallbacks->counts().empty());
  for (unsigned i = 0; i < 20; ++i) EXPECT_TRUE(made.work->ring()->take_free({}));
}

TEST(RingGrowthTest, AGpuWithoutTheMemoryKeepsItsBuffer) {
  SimulatedGpu sizes;
  const std::uint64_t slot_bytes = Uploader(sizes).work->budget().slot_bytes;
  SimulatedGpu gpu({.memory_bytes = 6 * slot_bytes});
  const Uploader made(gpu);
  made.work->grow_ring(16);
  EXPECT_EQ(made.work->budget().num_slots, 4U);
  ASSERT_EQ(made.fallbacks->counts().size(), 1U);
  EXPECT_EQ(made.fallbacks->counts()[0].reason, cuda::kCudaMemory.name);
  made.work->grow_ring(6);
  EXPECT_EQ(made.work->budget().num_slots, 6U);
}

TEST(RingGrowthTest, BytesStayTheSameWhileTheRingGrows) {
  SimulatedGpu gpu({.num_devices = 2, .seed = 5});
  Feed fixed(synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60))));
  const std::vector<std::string> expected = read_digests(fixed, 6);
  for (const SlotPayload payload : {SlotPayload::kPaddedMel, SlotPayload::kRaggedPcm}) {
    FeedSetup setup = setup_for(gpu, {.payload = payload, .buffer_size = 2});
    setup.loading.tuned_cores = 4;
    auto store = std::make_shared<SyntheticSource>(speech_like_rows(60));
    setup.store = store;
    Feed feed(std::move(setup));
    EXPECT_EQ(read_digests(feed, 6), expected);
    EXPECT_EQ(feed.tuner_log()->limits.buffer, TunerKnob::kDeviceDepth);
  }
}

// Batches come evenly but for a pause now and then; the consumer is slower than they come.
TEST(RingGrowthTest, PausesOfTheSupplyLengthenTheRing) {
  using namespace std::chrono_literals;
  SimulatedGpu gpu;
  auto store = std::make_shared<SyntheticSource>(speech_like_rows(60));
  store->before_mel = [](std::uint32_t row) -> Result<void> {
    if (row == 7) std::this_thread::sleep_for(60ms);
    return {};
  };
  FeedSetup setup = setup_for(gpu, {.buffer_size = 2});
  setup.store = store;
  setup.loading.num_workers = 1;
  setup.loading.tuned_cores = 1;
  setup.loading.depth = 1;
  Feed feed(std::move(setup));
  const Stopwatch watch;
  const unsigned begun = feed.stats().device->num_slots;
  while (feed.stats().device->num_slots == begun && watch.seconds() < 20) {
    feed.next();
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_GT(feed.stats().device->num_slots, begun);
  EXPECT_LE(feed.stats().device->num_slots, feed.stats().device->most_slots);
}

}  // namespace
}  // namespace stoker::feed
