// From log-mel frames back to a waveform: fast Griffin-Lim with momentum that keeps the mel bands
// right, for single utterances on the CPU (GriffinLim) and, byte for byte the same, for whole
// batches on a GPU (DeviceGriffinLim).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "stoker/base/philox.h"
#include "stoker/base/result.h"
#include "stoker/base/simd_level.h"
#include "stoker/config/mel_recipe.h"
#include "stoker/cuda/stream.h"

namespace stoker::audio {

struct GriffinLimOptions {
  std::size_t num_iterations = 60;
  double momentum = 0.99;             // of the fast variant (Perraudin, Balazs, Søndergaard 2013)
  std::uint64_t seed = kDefaultSeed;  // of the first phases
};

struct GriffinLimPlan;        // tables made once from the recipe
struct GriffinLimArrays;      // what one worker writes while computing
struct DeviceGriffinLimPlan;  // the tables on a device

// Each round makes the spectrogram that some waveform really has, takes its phases with momentum,
// and scales its magnitudes so that every mel band is the wanted one: M = |S|^p, M *= W'(wanted / W
// M) / W'1. No pseudo-inverse, and the bands of the result stay within a fraction of a decibel of
// the input's.
//
// Immutable; one object serves every thread, each with a Workspace of its own.
class GriffinLim {
 public:
  class Workspace {
   public:
    Workspace();
    Workspace(Workspace&&) noexcept;
    Workspace& operator=(Workspace&&) noexcept;
    ~Workspace();

   private:
    friend class GriffinLim;
    std::unique_ptr<GriffinLimArrays> arrays_;
  };

  // E-MEL-INVERT for recipes that forget the level (a range over the utterance).
  static Result<GriffinLim> make(const config::MelRecipe& recipe, const GriffinLimOptions& options,
                                 SimdLevel level);
  GriffinLim(GriffinLim&&) noexcept;
  GriffinLim& operator=(GriffinLim&&) noexcept;
  ~GriffinLim();

  // Samples that run() writes for so many frames.
  std::size_t num_samples(std::size_t num_frames) const noexcept;

  // `log_mel` is [frames, num_mels] as LogMel writes it in f32; precondition: out.size() ==
  // num_samples(frames). Allocates only when an utterance is longer than any the workspace has
  // seen. Equal input, options and level give equal bytes.
  void run(std::span<const float> log_mel, std::span<float> out, Workspace& workspace) const;

 private:
  explicit GriffinLim(std::unique_ptr<const GriffinLimPlan> plan);
  std::unique_ptr<const GriffinLimPlan> plan_;
};

// All pointers are of the device; `scratch` is aligned to 256 bytes, the others to their values.
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
