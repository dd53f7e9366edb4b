// The feed into a simulated GPU: the same bytes whatever the path, and no slot used too early.
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

struct Path {
  const char* name;
  DeviceCase wanted;
};
const std::array kPaths{
    Path{"padded mel", {}},
    Path{"ragged mel", {.payload = SlotPayload::kRaggedMel}},
    Path{"samples", {.payload = SlotPayload::kRaggedPcm}},
    Path{"resident mel", {.payload = SlotPayload::kRaggedMel, .tier = DeviceTier::kResident}},
    Path{"resident samples", {.payload = SlotPayload::kRaggedPcm, .tier = DeviceTier::kResident}},
    Path{"on demand", {.payload = SlotPayload::kRaggedPcm, .ahead = DeviceAhead::kOnDemand}},
    Path{"two devices", {.payload = SlotPayload::kRaggedPcm, .model_device = 1}},
    Path{"two devices without a peer link",
         {.payload = SlotPayload::kRaggedMel, .model_device = 1, .link = PeerLink::kStaged}},
    Path{"two devices that are one", {.model_device = 0}},
};

TEST(UploaderTest, EveryPathGivesTheBytesOfTheHost) {
  using config::MelDtype;
  for (const BatchLayout layout : {BatchLayout::kPadded, BatchLayout::kPacked}) {
    for (const MelDtype dtype : {MelDtype::kF16, MelDtype::kF32}) {
      const std::vector<std::string> expected = host_digests(layout, dtype);
      for (const Path& path : kPaths) {
        SimulatedGpu gpu({.num_devices = 2, .seed = 7});
        Feed feed = device_feed(gpu, path.wanted, layout, dtype);
        EXPECT_EQ(read_digests(feed, 3), expected)
            << path.name << ", layout " << static_cast<int>(layout) << ", " << name_of(dtype);
      }
    }
  }
}

TEST(UploaderTest, NothingIsLeftOnTheDevice) {
  for (const Path& path : kPaths) {
    SimulatedGpu gpu({.num_devices = 2});
    {
      Feed feed = device_feed(gpu, path.wanted);
      for (int i = 0; i < 3; ++i) feed.next();
      EXPECT_GT(gpu.allocated_bytes(), 0U);
    }
    EXPECT_EQ(gpu.allocated_bytes(), 0U) << path.name;
    EXPECT_EQ(gpu.num_handles(), 0U) << path.name;
  }
}

TEST(UploaderTest, PointersShapesAndLengthsAreTheDevices) {
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

TEST(UploaderTest, BorrowedBatchesDoNotGiveTheirSlotBack) {
  SimulatedGpu gpu;
  Feed feed = device_feed(gpu, {.payload = SlotPayload::kRaggedPcm});
  auto owner = feed.next();
  ASSERT_TRUE(owner);
  const std::string digest = owner->content_digest().hex();
  const cuda::Stream stream(0, cuda::StreamPriority::kNormal, gpu);
  const unsigned num_leased = feed.stats().ring->num_leased;
  for (int i = 0; i < 20; ++i) {
    Batch borrowed = owner->borrow();
    borrowed.wait(stream);
    borrowed.release(stream);
    EXPECT_EQ(feed.stats().ring->num_leased, num_leased);
  }
  stream.synchronize();
  EXPECT_EQ(owner->content_digest().hex(), digest);
  owner.reset();
  EXPECT_EQ(feed.stats().ring->num_leased, num_leased - 1);
}

TEST(UploaderTest, ResidentRowsAreReadOnce) {
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

TEST(UploaderTest, SeekGoesOnExactlyAlsoWithResidentRows) {
  for (const Path& path : kPaths) {
    SimulatedGpu gpu({.num_devices = 2, .seed = 3});
    Feed feed = device_feed(gpu, path.wanted);
    std::vector<std::string> all = read_digests(feed, 2);
    feed.seek({0, 3});
    const std::vector<std::string> again = read_digests(feed, 1);
    EXPECT_TRUE(std::equal(again.begin(), again.end(), all.begin() + 3)) << path.name;
  }
}

TEST(UploaderTest, NothingIsAllocatedOnceTheFirstBatchCame) {
  for (const Path& path : kPaths) {
    SimulatedGpu gpu({.num_devices = 2});
    Feed feed = device_feed(gpu, path.wanted);
    const cuda::Stream stream(path.wanted.model_device.value_or(0), cuda::StreamPriority::kNormal,
                              gpu);
    feed.next();
    const std::uint64_t num_made = gpu.num_made();
    for (int epoch = 0; epoch < 3; ++epoch) {
      while (auto batch = feed.next()) {
        batch->wait(stream);
        batch->release(stream);
      }
    }
    EXPECT_EQ(gpu.num_made(), num_made) << path.name;
  }
}

// In every mode alike: an error that names the batches, and the next batch in order once one of
// them is given back.
TEST(UploaderTest, HoldingEveryBatchIsAnErrorAndNothingIsLost) {
  for (const Path& path : kPaths) {
    SimulatedGpu gpu({.num_devices = 2});
    FeedSetup setup = synthetic_setup(make_store());
    setup.loading.stall_limit = std::chrono::milliseconds(300);
    setup.device = simulated_device(gpu, path.wanted);
    Feed feed(std::move(setup));
    std::deque<Batch> held;
    const auto take = [&] { held.push_back(std::move(feed.next().value())); };
    try {
      for (;;) take();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &pipeline::kPipeLeases) << path.name;
      EXPECT_NE(failure.error().found.find("epoch 0 batch 1"), std::string::npos)
          << path.name << ": " << failure.what();
    }
    EXPECT_EQ(held.size(), path.wanted.model_device ? 3U : 4U) << path.name;
    const std::uint64_t expected = held.back().index() + 1;
    held.pop_front();
    take();
    EXPECT_EQ(held.back().index(), expected) << path.name;
  }
}

TEST(UploaderTest, AStopEndsTheWaitForABatchThatIsHeld) {
  for (const Path& path : kPaths) {
    SimulatedGpu gpu({.num_devices = 2});
    FeedSetup setup = synthetic_setup(make_store());
    setup.loading.stall_limit = std::chrono::nanoseconds(0);
    setup.device = simulated_device(gpu, path.wanted);
    Feed feed(std::move(setup));
    std::vector<Batch> held;
    const unsigned most = path.wanted.model_device ? 3 : 4;
    for (unsigned i = 0; i < most; ++i) held.push_back(std::move(feed.next().value()));
    std::stop_source stop;
    const Thread stopper("stop", [&](const std::stop_token&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      stop.request_stop();
    });
    EXPECT_FALSE(feed.next(stop.get_token())) << path.name;
  }
}

// A pause that ends the wait loses nothing, and does not hide that everything is held.
TEST(UploaderTest, APauseInterruptsTheWaitAndTheNextCallGoesOn) {
  for (const Path& path : kPaths) {
    SimulatedGpu gpu({.num_devices = 2});
    FeedSetup setup = synthetic_setup(make_store());
    setup.loading.stall_limit = std::chrono::milliseconds(200);
    setup.device = simulated_device(gpu, path.wanted);
    Feed feed(std::move(setup));
    std::deque<Batch> held;
    const unsigned most = path.wanted.model_device ? 3 : 4;
    for (unsigned i = 0; i < most; ++i) held.push_back(std::move(feed.next().value()));
    int num_pauses = 0;
    const WaitPause ends{std::chrono::milliseconds(2), [&] { return ++num_pauses < 3; }};
    EXPECT_FALSE(feed.next({}, &ends)) << path.name;
    EXPECT_EQ(num_pauses, 3) << path.name;
    const WaitPause goes_on{std::chrono::milliseconds(2), [] { return true; }};
    try {
      feed.next({}, &goes_on);
      ADD_FAILURE() << path.name;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &pipeline::kPipeLeases) << path.name;
    }
    const std::uint64_t expected = held.back().index() + 1;
    held.pop_front();
    EXPECT_EQ(feed.next({}, &goes_on).value().index(), expected) << path.name;
  }
}

TEST(UploaderTest, BatchesMayOutliveTheFeed) {
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
