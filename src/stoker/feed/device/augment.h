// Gain and noise for a batch whose samples are in GPU memory, between their upload and their mel.
#pragma once

#include <cstddef>

#include "stoker/cuda/stream.h"
#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/assembly/upload_block.h"
#include "stoker/feed/device/kernels.h"
#include "stoker/feed/source/augmentation.h"

namespace stoker::feed {

// Changes a copy: utterances that stay on the GPU are left as they are.
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
  // Uploads the noises and waits for the stream.
  DeviceAugment(const Parts& parts, const cuda::Stream& stream);

  struct Batch {
    const UploadBlock& block;
    const std::byte* block_memory = nullptr;  // on the device
    const std::byte* samples = nullptr;       // what the block's begins are counted from
    std::uint64_t epoch = 0;
  };
  // Asynchronous. The changed samples are in out(), from the block's changed_begins on, until the
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
