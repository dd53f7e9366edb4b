// What is asked of a GPU on a machine without one is said, counted, and an error with strict; and
// the ranks that a launcher gives reach a feed opened in code.
#include <gtest/gtest.h>

#include <cstdlib>

#include "stoker/cuda/errors.h"
#include "stoker/feed/device/auto_device.h"
#include "stoker/feed/open_feed.h"
#include "tests/doubles/simulated_gpu.h"
#include "tests/feed/device/log_mel_kernels.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

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

DeviceView no_devices() {
  DeviceView view;
  view.probe.why_none = "no usable GPU: the driver lists none";
  return view;
}

TEST(GpuWishTest, WithoutAGpuItIsAFallbackAndAnErrorWithStrict) {
  SmallDataSet set(12);
  set.build_cache();
  const DeviceView none = no_devices();
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
  const DeviceView view = view_of(gpu);
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
  const DeviceView one = view_of(gpu);
  const DeviceView none = no_devices();
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

}  // namespace
}  // namespace stoker::feed
