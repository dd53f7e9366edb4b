#include "stoker/observe/machine/gpu_gauge.h"

#include <memory>
#include <optional>
#include <utility>

#include "stoker/cuda/device_probe.h"

namespace stoker::observe {

GpuGauge open_gpu_gauge(int device) {
  const cuda::DeviceProbe probe = cuda::probe_devices();
  if (device < 0 || static_cast<std::size_t>(device) >= probe.devices.size())
    return {.why_none = probe.why_none.empty() ? "no such GPU" : probe.why_none};
  std::string why;
  std::shared_ptr<const cuda::Nvml> nvml = cuda::Nvml::open(&why);
  if (nvml == nullptr) return {.why_none = std::move(why)};
  const std::string& uuid = probe.devices[static_cast<std::size_t>(device)].uuid;
  const std::optional<cuda::NvmlGpu> gpu = nvml->find(uuid);
  if (!gpu) return {.why_none = "the driver's library knows no GPU " + uuid};
  return {.sample = [nvml, gpu = *gpu] { return nvml->sample(gpu); },
          .link = [nvml, gpu = *gpu] { return nvml->link(gpu); },
          .uuid = uuid};
}

}  // namespace stoker::observe
