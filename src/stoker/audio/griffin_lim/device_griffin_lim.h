// The way back from log-mel frames to waveforms on a GPU: Griffin-Lim over a whole ragged batch,
// byte for byte what GriffinLim gives on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "stoker/audio/griffin_lim/griffin_lim.h"
#include "stoker/cuda/stream.h"

namespace stoker::audio {

struct DeviceGriffinLimPlan;  // tables on the device, made once from the recipe

// All pointers lie on the device; `scratch` is aligned to 256 bytes, the others to their values.
struct DeviceWaveBatch {
  const float* log_mel = nullptr;            // [utterances, padded_frames, num_mels]
  const std::int32_t* num_frames = nullptr;  // [utterances]; 0 to padded_frames
  int num_utterances = 0;                    // at most 65,535
  int padded_frames = 0;                     // at least 1
  float* samples = nullptr;         // [utterances, padded_samples]; 0 after an utterance's end
  std::int64_t padded_samples = 0;  // samples beyond it are cut off
  void* scratch = nullptr;          // scratch_bytes() of it
};

// Immutable; run() may be called from several threads, each with its own scratch. The bytes of an
// utterance depend on its frames, the recipe and the options only.
class DeviceGriffinLim {
 public:
  // E-MEL-INVERT as GriffinLim. Throws GpuError when there is no such GPU, its memory is full, or
  // its shared memory cannot hold n_fft points (needs 17 bytes a point).
  static Result<DeviceGriffinLim> make(const config::MelRecipe& recipe,
                                       const GriffinLimOptions& options, int device);
  DeviceGriffinLim(DeviceGriffinLim&&) noexcept;
  DeviceGriffinLim& operator=(DeviceGriffinLim&&) noexcept;
  ~DeviceGriffinLim();

  std::size_t num_samples(std::size_t num_frames) const noexcept;
  std::size_t scratch_bytes(std::size_t num_utterances, std::size_t padded_frames) const noexcept;

  // Asynchronous: two launches an iteration and no word from the host between them, no allocation;
  // may be recorded in a cuda::Graph. Throws GpuError.
  void run(const DeviceWaveBatch& batch, cuda::StreamView stream) const;

 private:
  explicit DeviceGriffinLim(std::unique_ptr<const DeviceGriffinLimPlan> plan);
  std::unique_ptr<const DeviceGriffinLimPlan> plan_;
};

}  // namespace stoker::audio
