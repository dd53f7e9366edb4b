// The feed into a simulated GPU: the same bytes whatever the way, and no slot used too early.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>

#include "stoker/cuda/check.h"
#include "stoker/cuda/errors.h"
#include "stoker/pipeline/errors.h"
#include "tests/feed/device/simulated_device.h"

namespace stoker::feed {
namespace {

constexpr std::size_t kNumRows = 60;

std::shared_ptr<SyntheticSource> make_store() {
  return std::make_shared<SyntheticSource>(speech_like_rows(kNumRows));
}

Feed device_feed(SimulatedGpu& gpu, const DeviceCase& wanted,
                 BatchLayout layout = BatchLayout::kPadded,
                 config::MelDtype dtype = config::MelDtype::kF16) {
  FeedSetup setup = synthetic_setup(make_store());
  setup.order.layout = layout;
  setup.dtype = dtype;
  setup.device = simulated_device(gpu, wanted);
  return Feed(std::move(setup));
}

std::vector<std::string> host_digests(BatchLayout layout, config::MelDtype dtype) {
  FeedSetup setup = synthetic_setup(make_store());
  setup.order.layout = layout;
  setup.dtype = dtype;
  Feed feed(std::move(setup));
  return read_digests(feed, 3);
}

struct Way {
  const char* name;
  DeviceCase wanted;
};
const std::array kWays{
    Way{"padded mel", {}},
    Way{"ragged mel", {.payload = SlotPayload::kRaggedMel}},
    Way{"samples", {.payload = SlotPayload::kRaggedPcm}},
    Way{"resident mel", {.payload = SlotPayload::kRaggedMel, .tier = DeviceTier::kResident}},
    Way{"resident samples", {.payload = SlotPayload::kRaggedPcm, .tier = DeviceTier::kResident}},
    Way{"on demand", {.payload = SlotPayload::kRaggedPcm, .ahead = DeviceAhead::kOnDemand}},
    Way{"two devices", {.payload = SlotPayload::kRaggedPcm, .model_device = 1}},
    Way{"two devices without a peer link",
        {.payload = SlotPayload::kRaggedMel, .model_device = 1, .link = PeerLink::kStaged}},
    Way{"two devices that are one", {.model_device = 0}},
};

TEST(DeviceFeedTest, EveryWayGivesTheBytesOfTheHost) {
  using config::MelDtype;
  for (const BatchLayout layout : {BatchLayout::kPadded, BatchLayout::kPacked}) {
    for (const MelDtype dtype : {MelDtype::kF16, MelDtype::kF32}) {
      const std::vector<std::string> expected = host_digests(layout, dtype);
      for (const Way& way : kWays) {
        SimulatedGpu gpu({.num_devices = 2, .seed = 7});
        Feed feed = device_feed(gpu, way.wanted, layout, dtype);
        EXPECT_EQ(read_digests(feed, 3), expected)
            << way.name << ", layout " << static_cast<int>(layout) << ", " << name_of(dtype);
      }
    }
  }
}

TEST(DeviceFeedTest, NothingIsLeftOnTheDevice) {
  for (const Way& way : kWays) {
    SimulatedGpu gpu({.num_devices = 2});
    {
      Feed feed = device_feed(gpu, way.wanted);
      for (int i = 0; i < 3; ++i) feed.next();
      EXPECT_GT(gpu.allocated_bytes(), 0U);
    }
    EXPECT_EQ(gpu.allocated_bytes(), 0U) << way.name;
    EXPECT_EQ(gpu.num_handles(), 0U) << way.name;
  }
}

TEST(DeviceFeedTest, PointersShapesAndLengthsAreTheDevices) {
  SimulatedGpu gpu;
  Feed feed = device_feed(gpu, {.payload = SlotPayload::kRaggedPcm});
  auto batch = feed.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->device(), Device::cuda(0));
  const cuda::Stream stream(0, cuda::StreamPriority::kNormal, gpu);
  batch->wait(stream);
  stream.synchronize();
  for (std::size_t row = 0; row < batch->num_rows(); ++row) {
    EXPECT_EQ(batch->device_lengths().mel_len[row], batch->mel_len()[row]);
    EXPECT_EQ(batch->device_lengths().text_len[row], batch->text_len()[row]);
    EXPECT_EQ(batch->device_lengths().speaker[row], batch->speaker()[row]);
  }
  batch->release(stream);
}

TEST(DeviceFeedTest, ResidentRowsAreReadOnce) {
  SimulatedGpu gpu;
  auto store = make_store();
  std::vector<std::atomic<int>> num_reads(kNumRows);
  store->before_mel = [&](std::uint32_t row) {
    ++num_reads[row];
    return Result<void>();
  };
  FeedSetup setup = synthetic_setup(store);
  setup.loading.num_workers = 1;
  setup.device =
      simulated_device(gpu, {.payload = SlotPayload::kRaggedPcm, .tier = DeviceTier::kResident});
  Feed feed(std::move(setup));
  read_digests(feed, 4);
  for (const auto& reads : num_reads) EXPECT_EQ(reads.load(), 1);
}

TEST(DeviceFeedTest, SeekGoesOnExactlyAlsoWithResidentRows) {
  for (const Way& way : kWays) {
    SimulatedGpu gpu({.num_devices = 2, .seed = 3});
    Feed feed = device_feed(gpu, way.wanted);
    std::vector<std::string> all = read_digests(feed, 2);
    feed.seek({0, 3});
    const std::vector<std::string> again = read_digests(feed, 1);
    EXPECT_TRUE(std::equal(again.begin(), again.end(), all.begin() + 3)) << way.name;
  }
}

TEST(DeviceFeedTest, NothingIsAllocatedOnceTheFirstBatchCame) {
  for (const Way& way : kWays) {
    SimulatedGpu gpu({.num_devices = 2});
    Feed feed = device_feed(gpu, way.wanted);
    const cuda::Stream stream(way.wanted.model_device.value_or(0), cuda::StreamPriority::kNormal,
                              gpu);
    feed.next();
    const std::uint64_t num_made = gpu.num_made();
    for (int epoch = 0; epoch < 3; ++epoch) {
      while (auto batch = feed.next()) {
        batch->wait(stream);
        batch->release(stream);
      }
    }
    EXPECT_EQ(gpu.num_made(), num_made) << way.name;
  }
}

// In every mode alike: an error that names the batches, and the next batch in order once one of
// them is given back.
TEST(DeviceFeedTest, HoldingEveryBatchIsAnErrorAndNothingIsLost) {
  for (const Way& way : kWays) {
    SimulatedGpu gpu({.num_devices = 2});
    FeedSetup setup = synthetic_setup(make_store());
    setup.loading.stall_limit = std::chrono::milliseconds(300);
    setup.device = simulated_device(gpu, way.wanted);
    Feed feed(std::move(setup));
    std::deque<Batch> held;
    const auto take = [&] { held.push_back(std::move(feed.next().value())); };
    try {
      for (;;) take();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &pipeline::kPipeLeases) << way.name;
      EXPECT_NE(failure.error().found.find("epoch 0 batch 1"), std::string::npos)
          << way.name << ": " << failure.what();
    }
    EXPECT_EQ(held.size(), way.wanted.model_device ? 3U : 4U) << way.name;
    const std::uint64_t expected = held.back().index() + 1;
    held.pop_front();
    take();
    EXPECT_EQ(held.back().index(), expected) << way.name;
  }
}

TEST(DeviceFeedTest, AStopEndsTheWaitForABatchThatIsHeld) {
  for (const Way& way : kWays) {
    SimulatedGpu gpu({.num_devices = 2});
    FeedSetup setup = synthetic_setup(make_store());
    setup.loading.stall_limit = std::chrono::nanoseconds(0);
    setup.device = simulated_device(gpu, way.wanted);
    Feed feed(std::move(setup));
    std::vector<Batch> held;
    const unsigned most = way.wanted.model_device ? 3 : 4;
    for (unsigned i = 0; i < most; ++i) held.push_back(std::move(feed.next().value()));
    std::stop_source stop;
    const Thread stopper("stop", [&](const std::stop_token&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      stop.request_stop();
    });
    EXPECT_FALSE(feed.next(stop.get_token())) << way.name;
  }
}

TEST(DeviceFeedTest, BatchesMayOutliveTheFeed) {
  SimulatedGpu gpu;
  std::optional<Batch> kept;
  std::string digest;
  {
    Feed feed = device_feed(gpu, {.payload = SlotPayload::kRaggedPcm});
    kept = feed.next();
    digest = kept->content_digest().hex();
  }
  EXPECT_EQ(kept->content_digest().hex(), digest);
}

}  // namespace
}  // namespace stoker::feed
