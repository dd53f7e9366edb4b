#include <cuda_runtime_api.h>

#include <array>
#include <string_view>

#include "stoker/cuda/device_probe.h"

namespace stoker::cuda {
namespace {

// A machine without any driver is told by the runtime that its driver is too old.
bool has_driver() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess && version > 0;
}

DeviceProbe none(cudaError_t error) {
  cudaGetLastError();  // the probe must not leave its failure behind for a later call to trip over
  if (!has_driver()) return {{}, "no GPU: this machine has no NVIDIA driver"};
  return {{}, std::string("no usable GPU: ") + cudaGetErrorString(error)};
}

// A slice (MIG) has a UUID of its own, written with another beginning. CUDA says nothing of which
// it is, except by its name: "NVIDIA H100 MIG 1g.10gb".
std::string uuid_of(const cudaDeviceProp& properties) {
  constexpr std::array<std::size_t, 5> kGroupEnds{4, 6, 8, 10, 16};
  constexpr const char* kDigits = "0123456789abcdef";
  const bool is_slice = std::string_view(properties.name).find(" MIG ") != std::string_view::npos;
  std::string text = is_slice ? "MIG" : "GPU";
  std::size_t at = 0;
  for (const std::size_t end : kGroupEnds) {
    text += '-';
    for (; at < end; ++at) {
      const auto byte = static_cast<unsigned char>(properties.uuid.bytes[at]);
      text += {kDigits[byte >> 4U], kDigits[byte & 0xFU]};
    }
  }
  return text;
}

}  // namespace

DeviceProbe probe_devices() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess)
    return none(error);
  DeviceProbe probe;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (const cudaError_t error = cudaGetDeviceProperties(&properties, index); error != cudaSuccess)
      return none(error);
    probe.devices.push_back({index, properties.name, properties.totalGlobalMem, properties.major,
                             properties.minor, properties.multiProcessorCount,
                             uuid_of(properties)});
  }
  if (probe.devices.empty()) probe.why_none = "no usable GPU: the driver lists none";
  return probe;
}

}  // namespace stoker::cuda
