// The kernels of a feed onto a real GPU, the layout alone: the mel of samples has its own tests.
#pragma once

#include "stoker/feed/device/gather_pad.h"
#include "stoker/feed/device/kernels.h"

namespace stoker::feed {

class GatherKernels final : public DeviceKernels {
 public:
  std::size_t mel_scratch_bytes(std::size_t, std::size_t) const override { return 0; }
  void make_mel(const audio::DeviceMelBatch&, cuda::StreamView) override {}
  void augment(const audio::AugmentBatch&, const audio::AugmentRule&,
               const audio::AugmentPlace&) override {}
  void gather(const GatherBatch& batch, cuda::StreamView stream) override {
    gather_pad_on_device(batch, stream);
  }
};

}  // namespace stoker::feed
