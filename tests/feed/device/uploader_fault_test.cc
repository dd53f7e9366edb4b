// What a GPU can do to a feed: no pinned memory, too little memory, a call that fails, a context
// that dies.
#include <gtest/gtest.h>

#include "stoker/cuda/check.h"
#include "stoker/cuda/errors.h"
#include "stoker/pipeline/errors.h"
#include "tests/feed/device/simulated_device.h"

namespace stoker::feed {
namespace {

FeedSetup setup_for(SimulatedGpu& gpu, const DeviceCase& wanted) {
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60)));
  setup.device = simulated_device(gpu, wanted);
  setup.fallbacks = setup.device->fallbacks;
  return setup;
}

std::vector<std::string> host_digests() {
  Feed feed(synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60))));
  return read_digests(feed, 2);
}

class UploaderFaultTest : public testing::Test {
 protected:
  ~UploaderFaultTest() override { cuda::plant_call_fault(std::nullopt); }
};

TEST_F(UploaderFaultTest, WithoutPinnedMemoryTheSameBatchesComeFromOrdinaryMemory) {
  SimulatedGpu gpu({.has_pinned = false});
  Feed feed(setup_for(gpu, {.payload = SlotPayload::kRaggedPcm}));
  EXPECT_EQ(read_digests(feed, 2), host_digests());
  const std::vector<FallbackCount> taken = feed.stats().fallbacks;
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].from, "pinned");
  EXPECT_EQ(taken[0].to, "pageable");
  EXPECT_EQ(taken[0].count, 1U);
}

TEST_F(UploaderFaultTest, StrictRefusesPageableMemory) {
  SimulatedGpu gpu({.has_pinned = false});
  try {
    Feed feed(setup_for(gpu, {.fallbacks = FallbackPolicy::kRefuse}));
    FAIL() << "batches in ordinary memory";
  } catch (const GpuError& failure) {
    EXPECT_EQ(failure.error().code, &cuda::kCudaPinned);
    EXPECT_NE(help_line(failure.error()).find("gpu.pin_memory=false"), std::string::npos);
  }
}

TEST_F(UploaderFaultTest, WithLittleMemoryTheRingIsShorter) {
  SimulatedGpu roomy;
  const FeedStats full = Feed(setup_for(roomy, {.buffer_size = 32})).stats();
  ASSERT_EQ(full.device->num_slots, 32U);
  SimulatedGpu gpu({.memory_bytes = full.device->total_bytes() / 2});
  Feed feed(setup_for(gpu, {.buffer_size = 32}));
  EXPECT_EQ(feed.stats().device->num_slots, 16U);
  EXPECT_EQ(feed.stats().fallbacks.at(0).from, "buffer_size");
  EXPECT_EQ(read_digests(feed, 2), host_digests());
}

TEST_F(UploaderFaultTest, WithoutRoomForTwoBatchesTheSizesAreNamed) {
  SimulatedGpu gpu({.memory_bytes = 4096});
  try {
    Feed feed(setup_for(gpu, {}));
    FAIL() << "4 KiB held a feed";
  } catch (const GpuError& failure) {
    EXPECT_EQ(failure.error().code, &cuda::kCudaMemory);
    EXPECT_EQ(failure.exit_code(), ExitCode::kGpu);
  }
}

TEST_F(UploaderFaultTest, TheBoundOnMemoryShortensTheRing) {
  SimulatedGpu gpu;
  FeedSetup setup = setup_for(gpu, {.buffer_size = 32});
  auto device = std::make_shared<DeviceSetup>(*setup.device);
  device->memory_bytes = Feed(setup_for(gpu, {})).stats().device->slot_bytes * 5 + 100;
  setup.device = device;
  Feed feed(std::move(setup));
  EXPECT_EQ(feed.stats().device->num_slots, 5U);
  EXPECT_LE(gpu.allocated_bytes(), device->memory_bytes);
}

TEST_F(UploaderFaultTest, ABoundBelowTwoBatchesNamesItAndTheNeed) {
  SimulatedGpu gpu;
  FeedSetup setup = setup_for(gpu, {});
  auto device = std::make_shared<DeviceSetup>(*setup.device);
  device->memory_bytes = 4096;
  setup.device = device;
  try {
    Feed feed(std::move(setup));
    FAIL() << "4 KiB held a feed";
  } catch (const GpuError& failure) {
    EXPECT_NE(failure.error().found.find("data_gpu_memory"), std::string::npos);
  }
}

// Any call may fail at any time: the run ends with exit 6 or goes on with the same bytes.
TEST_F(UploaderFaultTest, EveryFailingCallEndsInAGpuErrorOrTheSameBytes) {
  const std::vector<std::string> expected = host_digests();
  const auto run = [](SimulatedGpu& gpu) {
    Feed feed(setup_for(gpu, {.payload = SlotPayload::kRaggedPcm}));
    return read_digests(feed, 2);
  };
  cuda::plant_call_fault(std::nullopt);
  SimulatedGpu counted;
  run(counted);
  const std::uint64_t num_calls = cuda::num_calls();
  ASSERT_GT(num_calls, 100U);
  int num_ended = 0;
  for (std::uint64_t at = 0; at < num_calls; ++at) {
    for (const bool stays : {false, true}) {
      SimulatedGpu gpu;
      const int status = stays ? cuda::kStatusIllegalAddress : cuda::kStatusMemory;
      cuda::plant_call_fault(cuda::CallFault{.at = at, .status = status, .stays = stays});
      try {
        EXPECT_EQ(run(gpu), expected) << "call " << at;
      } catch (const GpuError& failure) {
        EXPECT_EQ(failure.exit_code(), ExitCode::kGpu);
        ++num_ended;
      }
      cuda::plant_call_fault(std::nullopt);
      EXPECT_EQ(gpu.allocated_bytes(), 0U) << "call " << at;
    }
  }
  EXPECT_GT(num_ended, 0);
}

// The context dies in the middle: what was handed out is counted, and another process goes on.
TEST_F(UploaderFaultTest, AfterAStickyErrorTheStateGoesOnExactly) {
  const std::vector<std::string> expected = host_digests();
  SimulatedGpu gpu;
  std::vector<std::string> seen;
  std::string state;
  {
    Feed feed(setup_for(gpu, {.payload = SlotPayload::kRaggedPcm}));
    for (int i = 0; i < 3; ++i) seen.push_back(feed.next()->content_digest().hex());
    cuda::plant_call_fault(
        cuda::CallFault{.at = 0, .status = cuda::kStatusIllegalAddress, .stays = true});
    try {
      for (;;) feed.next();
    } catch (const GpuError& failure) {
      EXPECT_EQ(failure.error().code, &cuda::kCudaSticky);
    }
    state = feed.state();
  }
  cuda::plant_call_fault(std::nullopt);
  SimulatedGpu fresh;
  Feed feed(setup_for(fresh, {.payload = SlotPayload::kRaggedPcm}));
  feed.restore(state);
  const FeedPosition at = feed.position();
  const std::vector<std::string> rest = read_digests(feed, 1);
  ASSERT_EQ(at.epoch, 0U);
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(),
                         expected.begin() + static_cast<std::ptrdiff_t>(at.batch)));
}

TEST_F(UploaderFaultTest, AConsumerThatKeepsEveryBatchIsTold) {
  SimulatedGpu gpu;
  FeedSetup setup = setup_for(gpu, {.buffer_size = 2});
  setup.loading.stall_limit = std::chrono::milliseconds(50);
  Feed feed(std::move(setup));
  std::vector<Batch> kept;
  try {
    for (;;) kept.push_back(*feed.next());
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &pipeline::kPipeLeases);
    EXPECT_EQ(kept.size(), 2U);
  }
}

TEST_F(UploaderFaultTest, ABadRowIsEmptyOnTheDeviceToo) {
  for (const SlotPayload payload :
       {SlotPayload::kPaddedMel, SlotPayload::kRaggedMel, SlotPayload::kRaggedPcm}) {
    SimulatedGpu gpu;
    auto store = std::make_shared<SyntheticSource>(speech_like_rows(60));
    store->before_mel = [](std::uint32_t row) -> Result<void> {
      static constexpr ErrorCode kBad{"E-TEST-BAD", ExitCode::kData, "bad", ""};
      if (row == 7) return Error{.code = &kBad};
      return {};
    };
    FeedSetup setup = synthetic_setup(store);
    setup.device = simulated_device(gpu, {.payload = payload});
    Feed feed(std::move(setup));
    while (const auto batch = feed.next()) {
      for (std::size_t row = 0; row < batch->num_rows(); ++row) {
        if (batch->id(row) != "utt7") continue;
        EXPECT_EQ(batch->mel_len()[row], 0);
      }
      batch->content_digest();
    }
    EXPECT_EQ(feed.bad_rows().size(), 1U);
  }
}

}  // namespace
}  // namespace stoker::feed
