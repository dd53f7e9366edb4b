// Kernels of a simulated GPU that make real mels, so that whole feeds run where there is none.
#pragma once

#include <memory>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/feed/device/gpu_mode.h"
#include "stoker/feed/device/kernels.h"
#include "tests/doubles/simulated_gpu.h"

namespace stoker::feed {

// The CPU's own mel in stream order, so that GPU and CPU are one numeric path here.
class LogMelKernels final : public DeviceKernels {
 public:
  LogMelKernels(SimulatedGpu& gpu, const DeviceKernelOptions& options)
      : gpu_(gpu), mel_(options.recipe, simd_level().take_or_raise()), dtype_(options.dtype) {}

  std::size_t mel_scratch_bytes(std::size_t, std::size_t) const override { return 0; }
  void make_mel(const audio::DeviceMelBatch& batch, cuda::StreamView stream) override {
    gpu_.launch(stream, [this, batch] { make(batch); });
  }
  void augment(const audio::AugmentBatch& batch, const audio::AugmentRule& rule,
               const audio::AugmentPlace& place) override {
    gpu_.launch(place.stream, [batch, rule] { audio::augment_batch(batch, rule); });
  }
  void gather(const GatherBatch& batch, cuda::StreamView stream) override {
    gpu_.launch(stream, [batch] { gather_pad_on_host(batch); });
  }

 private:
  void make(const audio::DeviceMelBatch& batch) {
    auto workspace = mel_.make_workspace(1U << 20U);
    const std::size_t row_bytes = static_cast<std::size_t>(batch.padded_frames) * mel_.num_mels() *
                                  config::bytes_per_value(dtype_);
    for (int row = 0; row < batch.num_utterances; ++row) {
      const auto* samples = static_cast<const std::int16_t*>(batch.samples) + batch.begins[row];
      mel_.run(
          std::span(samples, static_cast<std::size_t>(batch.lengths[row])),
          {.data = static_cast<std::byte*>(batch.mel) + static_cast<std::size_t>(row) * row_bytes,
           .dtype = dtype_,
           .row_stride = mel_.num_mels(),
           .rows = static_cast<std::size_t>(batch.padded_frames)},
          workspace);
    }
  }

  SimulatedGpu& gpu_;
  audio::LogMel mel_;
  config::MelDtype dtype_;
};

inline DeviceView view_of(SimulatedGpu& gpu) {
  DeviceView view{.api = &gpu};
  view.probe.devices = {{.index = 0, .name = "NVIDIA H200"}, {.index = 1, .name = "NVIDIA H200"}};
  view.make_kernels = [&gpu](const DeviceKernelOptions& options) {
    return std::make_unique<LogMelKernels>(gpu, options);
  };
  return view;
}

}  // namespace stoker::feed
