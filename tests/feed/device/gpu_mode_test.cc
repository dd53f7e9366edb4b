// Choice of mode, its messages, fallbacks and the start rule: without a GPU, with a fake clock.
#include "stoker/feed/device/gpu_mode.h"

#include <gtest/gtest.h>

#include <future>

#include "stoker/cuda/errors.h"
#include "stoker/feed/start_rule.h"
#include "tests/doubles/fake_clock.h"
#include "tests/feed/device/simulated_device.h"

namespace stoker::feed {
namespace {

DeviceView view_of(SimulatedGpu& gpu, int num_devices) {
  DeviceView view{.api = &gpu};
  for (int i = 0; i < num_devices; ++i) {
    view.probe.devices.push_back({.index = i, .name = "NVIDIA H200"});
  }
  if (num_devices == 0) view.probe.why_none = "no usable GPU: the driver lists none";
  return view;
}

struct ModeCase {
  const char* name;
  int num_devices;
  ModeWish wish;
  GpuMode mode;
  int data_device = 0;
  int model_device = 0;
  const char* fallback_to = nullptr;
};
const std::array kModes{
    ModeCase{"default is single-GPU", 2, {}, GpuMode::kSingleGpu},
    ModeCase{"the device asked for", 2, {.device = Device::cuda(1)}, GpuMode::kSingleGpu, 1, 1},
    ModeCase{"cpu asked for", 2, {.device = Device::cpu()}, GpuMode::kCpu},
    ModeCase{"no GPU", 0, {}, GpuMode::kCpu},
    ModeCase{"two GPUs", 2, {.data_gpu = 0, .model_gpu = 1}, GpuMode::kMultiGpu, 0, 1},
    ModeCase{"the other way round", 2, {.data_gpu = 1, .model_gpu = 0}, GpuMode::kMultiGpu, 1, 0},
    ModeCase{"one card as two", 1, {.data_gpu = 0, .model_gpu = 0}, GpuMode::kMultiGpu},
    ModeCase{"only the data GPU", 2, {.data_gpu = 1}, GpuMode::kSingleGpu, 1, 1},
    ModeCase{"a model GPU that is missing",
             1,
             {.data_gpu = 0, .model_gpu = 1},
             GpuMode::kSingleGpu,
             0,
             0,
             "single-GPU"},
    ModeCase{"a data GPU that is missing",
             2,
             {.data_gpu = 5, .model_gpu = 1},
             GpuMode::kSingleGpu,
             1,
             1,
             "single-GPU"},
    ModeCase{"two GPUs of none", 0, {.data_gpu = 0, .model_gpu = 1}, GpuMode::kCpu, 0, 0, "CPU"},
};

TEST(GpuModeTest, TheWishAndTheDevicesDecide) {
  for (const ModeCase& each : kModes) {
    SimulatedGpu gpu({.num_devices = each.num_devices});
    Fallbacks fallbacks(FallbackPolicy::kAllow);
    const ModeChoice choice = choose_mode(each.wish, view_of(gpu, each.num_devices), fallbacks);
    EXPECT_EQ(choice.mode, each.mode) << each.name;
    EXPECT_EQ(choice.data_device, each.data_device) << each.name;
    EXPECT_EQ(choice.model_device, each.model_device) << each.name;
    const std::vector<FallbackCount> taken = fallbacks.counts();
    ASSERT_EQ(taken.size(), each.fallback_to == nullptr ? 0U : 1U) << each.name;
    if (each.fallback_to == nullptr) continue;
    EXPECT_EQ(taken[0].to, each.fallback_to) << each.name;
    EXPECT_EQ(taken[0].count, 1U);
  }
}

TEST(GpuModeTest, StrictMakesEveryFallbackAnErrorOfExitSix) {
  for (const ModeCase& each : kModes) {
    if (each.fallback_to == nullptr) continue;
    SimulatedGpu gpu;
    Fallbacks strict(FallbackPolicy::kRefuse);
    try {
      choose_mode(each.wish, view_of(gpu, each.num_devices), strict);
      ADD_FAILURE() << each.name;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit_code(), ExitCode::kGpu) << each.name;
    }
  }
}

TEST(GpuModeTest, AGpuNamedByItselfMustBeThere) {
  SimulatedGpu gpu;
  Fallbacks fallbacks(FallbackPolicy::kAllow);
  EXPECT_THROW(choose_mode({.device = Device::cuda(0)}, view_of(gpu, 0), fallbacks), GpuError);
  EXPECT_THROW(choose_mode({.device = Device::cuda(3)}, view_of(gpu, 1), fallbacks), GpuError);
  EXPECT_TRUE(fallbacks.counts().empty());
}

TEST(GpuModeTest, WithoutAPeerLinkCopiesGoThroughTheHost) {
  SimulatedGpu gpu({.num_devices = 2, .has_peer_link = false});
  const ModeWish wish{.data_gpu = 0, .model_gpu = 1};
  Fallbacks fallbacks(FallbackPolicy::kAllow);
  EXPECT_EQ(choose_mode(wish, view_of(gpu, 2), fallbacks).link, PeerLink::kStaged);
  EXPECT_EQ(fallbacks.counts().at(0).from, "peer copy");
  Fallbacks strict(FallbackPolicy::kRefuse);
  EXPECT_THROW(choose_mode(wish, view_of(gpu, 2), strict), GpuError);
}

TEST(GpuModeTest, TheLinesAreThoseUsersKnow) {
  SimulatedGpu gpu({.num_devices = 2});
  const DeviceView view = view_of(gpu, 2);
  const ModeFacts facts{.buffer_size = 50,
                        .used_bytes = std::uint64_t{6} << 27U,
                        .allowed_bytes = std::uint64_t{8} << 30U,
                        .prefetching = "mel on GPU 0 from PCM16"};
  EXPECT_EQ(
      mode_lines({.mode = GpuMode::kMultiGpu, .data_device = 0, .model_device = 1}, view, facts),
      (std::vector<std::string>{"Intelligent GPU Pipeline: Multi-GPU Mode",
                                "  - Data Processing GPU: 0 (NVIDIA H200)",
                                "  - Model Training GPU: 1 (NVIDIA H200), peer copies on",
                                "  - Prefetching to GPU 0 with buffer_size=50 (0.8 of 8.0 GiB)"}));
  EXPECT_EQ(mode_lines({.mode = GpuMode::kSingleGpu}, view, facts),
            (std::vector<std::string>{
                "Intelligent GPU Pipeline: Single-GPU Buffered Mode", "  - Buffer Size: 50",
                "  - Smart Prefetching: Enabled (mel on GPU 0 from PCM16)",
                "  - Prefetching to GPU 0 with buffer_size=50 (0.8 of 8.0 GiB)"}));
  EXPECT_EQ(waiting_line(std::chrono::seconds(2)),
            "  Waiting for the buffer, at most 2.0 s after the first batch ...");
  EXPECT_EQ(starting_line({.num_ready = 50, .buffer_size = 50, .waited_s = 0.7}),
            "Model training starting now (buffer 50/50, waited 0.7 s)");
}

BatchFormat small_format() {
  BatchFormat format;
  format.max_mel_frames = format.max_tokens = 8;
  format.max_rows = format.max_global_rows = 1;
  return format;
}

// A ring that the test fills by hand.
class StartRuleTest : public testing::Test {
 protected:
  StartRuleTest() : ring_(small_format(), {.api = &gpu_, .device = 0, .num_slots = 4}) {}

  void make_ready() { ring_.push_ready(*ring_.take_free({})); }
  std::future<StartReport> start(std::chrono::nanoseconds delay) {
    return std::async(std::launch::async, [this, delay] {
      return await_start(ring_, {.delay = delay, .clock = &clock_});
    });
  }
  static bool is_waiting(const std::future<StartReport>& started) {
    return started.wait_for(std::chrono::milliseconds(30)) == std::future_status::timeout;
  }

  SimulatedGpu gpu_;
  FakeClock clock_;
  DeviceRing ring_;
};

TEST_F(StartRuleTest, NeverBeforeOneBatchIsReady) {
  auto started = start(std::chrono::nanoseconds(0));
  clock_.advance(std::chrono::hours(1));
  EXPECT_TRUE(is_waiting(started));
  make_ready();
  EXPECT_EQ(started.get().num_ready, 1U);
}

TEST_F(StartRuleTest, AsSoonAsTheBufferIsFull) {
  auto started = start(std::chrono::seconds(2));
  for (int i = 0; i < 3; ++i) make_ready();
  EXPECT_TRUE(is_waiting(started));
  make_ready();
  const StartReport report = started.get();
  EXPECT_EQ(report.num_ready, 4U);
  EXPECT_LT(report.waited_s, 2.0);
}

TEST_F(StartRuleTest, OrWhenTheDelayHasPassedSinceTheFirstBatch) {
  auto started = start(std::chrono::seconds(2));
  clock_.advance(std::chrono::hours(1));  // before the first batch: does not count
  make_ready();
  EXPECT_TRUE(is_waiting(started));
  clock_.advance(std::chrono::milliseconds(1900));
  EXPECT_TRUE(is_waiting(started));
  clock_.advance(std::chrono::milliseconds(200));
  const StartReport report = started.get();
  EXPECT_EQ(report.num_ready, 1U);
  EXPECT_GE(report.waited_s, 2.0);
}

TEST_F(StartRuleTest, AFeedThatEndsEarlierDoesNotKeepTheTrainerWaiting) {
  auto started = start(std::chrono::seconds(2));
  make_ready();
  ring_.close();
  EXPECT_EQ(started.get().num_ready, 1U);
}

}  // namespace
}  // namespace stoker::feed
