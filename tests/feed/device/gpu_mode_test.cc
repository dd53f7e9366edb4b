// Choice of mode, its lines and fallbacks, without a GPU; what is asked of a GPU that is not there
// is logged, counted, and an error with strict.
#include "stoker/feed/device/gpu_mode.h"

#include <gtest/gtest.h>

#include <array>

#include "stoker/cuda/errors.h"
#include "stoker/feed/open_feed.h"
#include "tests/doubles/simulated_gpu.h"
#include "tests/feed/device/log_mel_kernels.h"
#include "tests/feed/small_data_set.h"

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
}

struct WishCase {
  const char* name;
  config::CacheTier tier;
  config::MelPlace place;
  const char* from;
};
const std::array kWishes{
    WishCase{"tier", config::CacheTier::kGpu, config::MelPlace::kAuto, "gpu tier"},
    WishCase{"mel place", config::CacheTier::kDisk, config::MelPlace::kGpu, "GPU mel"},
};

TEST(GpuWishTest, WithoutAGpuItIsAFallbackAndAnErrorWithStrict) {
  SmallDataSet set(12);
  set.build_cache();
  SimulatedGpu gpu;
  const DeviceView none = view_of(gpu, 0);
  for (const WishCase& wish : kWishes) {
    for (const char* const device : {"auto", "cpu"}) {
      config::Settings settings = set.settings();
      settings.run.device = device;
      settings.cache.tier = wish.tier;
      settings.gpu.mel_place = wish.place;
      settings = resolve_auto_device(settings, AutoMel::kHost, &none);
      {
        OpenedFeed opened = open_feed(settings, {.devices = &none});
        ASSERT_TRUE(opened.feed.next()) << wish.name;
        const std::vector<FallbackCount> taken = opened.feed.stats().fallbacks;
        ASSERT_EQ(taken.size(), 1U) << wish.name << ", device " << device;
        EXPECT_EQ(taken[0].from, wish.from);
        EXPECT_EQ(taken[0].reason, "E-CUDA-NONE");
      }
      settings.run.strict = true;
      try {
        open_feed(settings, {.devices = &none});
        ADD_FAILURE() << wish.name << ": strict allowed it";
      } catch (const GpuError& error) {
        EXPECT_EQ(error.error().code, &cuda::kCudaNone);
        EXPECT_EQ(error.exit_code(), ExitCode::kGpu);
      }
    }
  }
}

TEST(GpuWishTest, CropsThatNeedTheHostRefuseTheMelOnTheGpu) {
  SmallDataSet set(12);
  SimulatedGpu gpu;
  const DeviceView view = feed::view_of(gpu);
  config::Settings settings = set.settings();
  settings.run.device = "cuda";
  settings.gpu.buffer_size = 4;
  settings.gpu.mel_place = config::MelPlace::kGpu;
  settings.batch.segment_frames = 8;
  {
    OpenedFeed opened = open_feed(settings, {.devices = &view});
    const std::vector<FallbackCount> taken = opened.feed.stats().fallbacks;
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].reason, "E-CUDA-MEL");
  }
  settings.run.strict = true;
  EXPECT_THROW(open_feed(settings, {.devices = &view}), GpuError);
}

TEST(GpuWishTest, ANamedDeviceThatIsNotThereIsSaidWhereNoneIsUsed) {
  SimulatedGpu gpu;
  const DeviceView one = view_of(gpu, 2);
  const DeviceView none = view_of(gpu, 0);
  const auto codes = [](const std::optional<Device>& device, const DeviceView& view) {
    Fallbacks fallbacks(FallbackPolicy::kAllow);
    check_named_device(device, view, fallbacks);
    std::string text;
    for (const FallbackCount& each : fallbacks.counts()) text += each.from + " " + each.reason;
    return text;
  };
  EXPECT_EQ(codes(std::nullopt, none), "");
  EXPECT_EQ(codes(Device::cpu(), none), "");
  EXPECT_EQ(codes(Device::cuda(0), one), "");
  EXPECT_EQ(codes(Device::cuda(7), one), "cuda:7 E-CUDA-INDEX");
  EXPECT_EQ(codes(Device::cuda(7), none), "cuda:7 E-CUDA-NONE");
  Fallbacks strict(FallbackPolicy::kRefuse);
  EXPECT_THROW(check_named_device(Device::cuda(7), one, strict), GpuError);
  EXPECT_THROW(check_named_device(Device::cuda(7), none, strict), GpuError);
}

}  // namespace
}  // namespace stoker::feed
