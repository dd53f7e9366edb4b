// The way back from log-mel frames to a waveform: fast Griffin-Lim with momentum that keeps the mel
// bands right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "stoker/base/philox.h"
#include "stoker/base/result.h"
#include "stoker/base/simd_level.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

struct GriffinLimOptions {
  std::size_t num_iterations = 60;
  double momentum = 0.99;             // of the fast variant (Perraudin, Balazs, Søndergaard 2013)
  std::uint64_t seed = kDefaultSeed;  // of the first phases
};

struct GriffinLimPlan;    // tables made once from the recipe
struct GriffinLimArrays;  // what one worker writes while computing

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

}  // namespace stoker::audio
