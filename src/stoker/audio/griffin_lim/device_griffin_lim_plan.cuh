// A recipe's tables on a GPU, ready for the kernels of Griffin-Lim.
#pragma once

#include "stoker/audio/griffin_lim/device_griffin_lim.h"
#include "stoker/audio/griffin_lim/griffin_lim_tables.cuh"
#include "stoker/cuda/device_buffer.h"

namespace stoker::audio {

// Device memory comes in places of so many bytes.
inline constexpr std::size_t kDeviceAlignment = 256;
constexpr std::size_t device_aligned(std::size_t size_bytes) {
  return (size_bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

struct DeviceGriffinLimPlan {
  // Uploads the tables and waits for that. Throws GpuError.
  DeviceGriffinLimPlan(const config::MelRecipe& recipe, const GriffinLimOptions& options,
                       int on_device);

  GriffinLimPlan host;
  int device;
  cuda::DeviceBuffer memory;
  GriffinLimTables tables;  // pointers into `memory`
};

}  // namespace stoker::audio
