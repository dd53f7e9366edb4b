// Which of the three modes a run takes: features and model on one GPU, on two, or all on the CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
};

// What there is; tests bring their own.
struct DeviceView {
  cuda::DeviceProbe probe{};
  cuda::DeviceApi* api = &cuda::system_device_api();
  std::function<std::unique_ptr<DeviceKernels>(const DeviceKernelOptions&)> make_kernels =
      make_device_kernels;
};
DeviceView view_devices();

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

// What is known once the feed is open.
struct ModeFacts {
  unsigned buffer_size = 0;
  std::string buffer_reason{};  // where nobody said how many
  std::uint64_t used_bytes = 0;
  std::uint64_t allowed_bytes = 0;
  std::string prefetching{};  // "mel on GPU 0 from PCM16"; empty: off
};

// The lines a run begins with.
std::vector<std::string> mode_lines(const ModeChoice& choice, const DeviceView& view,
                                    const ModeFacts& facts);

}  // namespace stoker::feed
