#include <cuda_runtime_api.h>

#include <array>

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

std::string pci_address_of(int index) {
  std::array<char, 32> text{};
  const cudaError_t error =
      cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), index);
  if (error == cudaSuccess) return text.data();
  cudaGetLastError();
  return {};
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
                             pci_address_of(index)});
  }
  if (probe.devices.empty()) probe.why_none = "no usable GPU: the driver lists none";
  return probe;
}

}  // namespace stoker::cuda
