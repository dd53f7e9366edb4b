// The kernels that a feed runs: augmentation, samples to mel, and rows to a padded batch; tests
// bring their own.
#pragma once

#include <cstddef>
#include <memory>

#include "stoker/audio/augment/augment_batch.h"
#include "stoker/audio/mel/log_mel.h"
#include "stoker/base/checked.h"
#include "stoker/config/mel_recipe.h"
#include "stoker/feed/device/gather_pad.h"

namespace stoker::feed {

// What a part of one block of device memory takes, so that the next begins where cudaMalloc itself
// would let it, which is more than any kernel asks for.
constexpr std::size_t aligned_part_bytes(std::size_t size_bytes) {
  return round_up(size_bytes, std::size_t{256});
}

// Called by one thread; asynchronous.
class DeviceKernels {
 public:
  virtual ~DeviceKernels() = default;
  virtual std::size_t mel_scratch_bytes(std::size_t num_rows, std::size_t num_frames) const = 0;
  virtual void make_mel(const audio::DeviceMelBatch& batch, cuda::StreamView stream) = 0;
  virtual void augment(const audio::AugmentBatch& batch, const audio::AugmentRule& rule,
                       const audio::AugmentPlace& place) = 0;
  virtual void gather(const GatherBatch& batch, cuda::StreamView stream) = 0;
};

enum class KernelUse { kMel, kLayout };  // kLayout: gather() alone

struct DeviceKernelOptions {
  KernelUse use = KernelUse::kMel;
  config::MelRecipe recipe;
  config::MelDtype dtype = config::MelDtype::kF16;  // of mels made on the GPU
  int device = 0;
};

// Loads the kernels onto the device, so that a wrong architecture is found before any work; throws
// GpuError.
std::unique_ptr<DeviceKernels> make_device_kernels(const DeviceKernelOptions& options);

}  // namespace stoker::feed
