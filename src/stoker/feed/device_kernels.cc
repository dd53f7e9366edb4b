#include "stoker/feed/device_kernels.h"

namespace stoker::feed {
namespace {

class CudaKernels final : public DeviceKernels {
 public:
  explicit CudaKernels(const DeviceKernelOptions& options)
      : mel_(options.recipe, {.out = options.dtype,
                              .in = audio::SampleType::kPcm16,
                              .device = options.device,
                              .variant = audio::MelVariant::kAuto}) {}

  std::size_t mel_scratch_bytes(std::size_t num_rows, std::size_t num_frames) const override {
    return mel_.scratch_bytes(num_rows, num_frames);
  }
  void make_mel(const audio::DeviceMelBatch& batch, cuda::StreamView stream) override {
    mel_.run(batch, stream);
  }
  void gather(const GatherBatch& batch, cuda::StreamView stream) override {
    gather_pad_on_device(batch, stream);
  }

 private:
  audio::DeviceLogMel mel_;
};

}  // namespace

std::unique_ptr<DeviceKernels> make_device_kernels(const DeviceKernelOptions& options) {
  return std::make_unique<CudaKernels>(options);
}

}  // namespace stoker::feed
