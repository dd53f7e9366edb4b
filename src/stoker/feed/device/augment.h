// Gain and noise for a batch whose samples lie on a GPU, between their arrival and their mel.
#pragma once

#include <cstddef>

#include "stoker/cuda/stream.h"
#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/device/kernels.h"
#include "stoker/feed/device/pack.h"
#include "stoker/feed/source/augmentation.h"

namespace stoker::feed {

// Rows that stay on the GPU are left as they are: what is changed is a copy.
class DeviceAugment {
 public:
  static std::size_t needed_bytes(const BatchFormat& format, const Augmentation& augmentation);

  struct Parts {
    const BatchFormat& format;
    const Augmentation& augmentation;
    DeviceKernels& kernels;
    cuda::DeviceApi& api;
    std::byte* memory = nullptr;  // needed_bytes() of the device
  };
  // Brings the noises to the device; the stream is waited for.
  DeviceAugment(const Parts& parts, const cuda::Stream& stream);

  struct Batch {
    const DevicePack& pack;
    const std::byte* pack_memory = nullptr;  // on the device
    const std::byte* samples = nullptr;      // what the pack's begins are counted from
    std::uint64_t epoch = 0;
  };
  // Asynchronous. The changed samples lie in out() from the pack's changed_begins on, until the
  // next batch.
  void run(const Batch& batch, cuda::StreamView stream) const;
  const std::byte* out() const { return out_; }

 private:
  Parts parts_;
  std::byte* out_ = nullptr;
  std::byte* scratch_ = nullptr;
  audio::NoiseBank noises_;
};

}  // namespace stoker::feed
