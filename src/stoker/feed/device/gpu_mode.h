// Which of the three modes a run takes: features and model on one GPU, on two, or all on the CPU;
// and what the automatic device is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/config/settings.h"
#include "stoker/cuda/device.h"
#include "stoker/cuda/device_api.h"
#include "stoker/cuda/device_probe.h"
#include "stoker/feed/device/setup.h"
#include "stoker/feed/fallbacks.h"

namespace stoker::feed {

enum class GpuMode { kCpu, kSingleGpu, kMultiGpu };

// What the user asked for; a device of nothing is `auto`.
struct ModeWish {
  std::optional<Device> device{};
  std::optional<int> data_gpu{};
  std::optional<int> model_gpu{};

  bool names_any() const { return device || data_gpu || model_gpu; }
  bool asks_for_gpu() const {
    return device ? device->is_cuda() : data_gpu.has_value() || model_gpu.has_value();
  }
};
ModeWish wish_of(const config::Settings& settings);

// What there is; tests bring their own.
struct DeviceView {
  cuda::DeviceProbe probe{};
  cuda::DeviceApi* api = &cuda::system_device_api();
  std::function<std::unique_ptr<DeviceKernels>(const DeviceKernelOptions&)> make_kernels =
      make_device_kernels;
};
DeviceView view_devices();

// Where mels are made once `auto` found a GPU and no setting says where.
enum class AutoMel {
  kMeasured,  // on whichever of CPU and GPU is faster
  kHost,      // not on the GPU: digests are the same with and without one
};

// What device `auto` means to a command that runs a feed: the settings with the first GPU. They
// stay as they are where a device, data_gpu or model_gpu is named and where there is no GPU.
// `devices` of null: asks the driver.
config::Settings resolve_auto_device(config::Settings settings, AutoMel mel,
                                     const DeviceView* devices = nullptr);

struct ModeChoice {
  GpuMode mode = GpuMode::kCpu;
  int data_device = 0;
  int model_device = 0;  // the same unless kMultiGpu
  PeerLink link = PeerLink::kPeer;
  std::string why_cpu{};  // with kCpu: what there is no GPU for
};

// Both data_gpu and model_gpu: multi-GPU mode, also with the same number twice. A GPU of them that
// does not exist: single-GPU mode, as a fallback. No GPU: CPU mode. Throws GpuError before any work
// where fallbacks are refused, and where `device` names a GPU that is not there.
ModeChoice choose_mode(const ModeWish& wish, const DeviceView& view, Fallbacks& fallbacks);

// For work that uses no GPU: a device that is named and not there is a fallback to the CPU. Throws
// GpuError where fallbacks are refused.
void check_named_device(const std::optional<Device>& device, const DeviceView& view,
                        Fallbacks& fallbacks);

// The same for a cache, which is built on the CPU: the GPU that is named in a run's settings may be
// another machine's. How often each fallback happened, "from -> to: reason".
Json check_build_device(const config::Settings& settings);

// What the settings ask of a GPU while batches stay in host memory, cache.tier and gpu.mel_place:
// a fallback each. Creates the account where there is none yet. Throws GpuError where fallbacks are
// refused.
void refuse_gpu_wishes(const config::Settings& settings, const DeviceView* devices,
                       std::shared_ptr<Fallbacks>& fallbacks);

// What is known once the feed is open.
struct ModeFacts {
  unsigned buffer_size = 0;
  std::string buffer_reason{};  // where no setting says how many
  std::uint64_t used_bytes = 0;
  std::uint64_t allowed_bytes = 0;
  std::string prefetching{};  // "mel on GPU 0 from PCM16"; empty: off
};

// The lines a run begins with.
std::vector<std::string> mode_lines(const ModeChoice& choice, const DeviceView& view,
                                    const ModeFacts& facts);

}  // namespace stoker::feed
