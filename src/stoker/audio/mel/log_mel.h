// Samples to log-mel frames on the CPU: one fused pass per block of frames, one frame per SIMD
// lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "stoker/audio/mel/mel_arithmetic.h"
#include "stoker/audio/mel/mel_view.h"
#include "stoker/base/simd_level.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::audio {

struct MelPlan;        // tables made once from the recipe
struct MelScratch;     // what one worker writes while computing
struct MelStageTimes;  // mel_stage_times.h

// Immutable; one object serves every thread, each with a Workspace of its own.
//
// Rules: fewer samples than one hop (or than one window with snip_edges) give no frame. Reflection
// bounces as NumPy's "reflect" however short the utterance is. A float sample that is not a number
// counts as 0 and one beyond +-2^20 as that bound, so every output is finite; f16 saturates at
// 65504. A frame's bytes depend on the utterance, the recipe, the SIMD level, the arithmetic
// and the dtype only: not on threads, neighbours or earlier calls. Rounding to f16 and bf16 is to
// nearest even.
class LogMel {
 public:
  class Workspace {
   public:
    Workspace(Workspace&&) noexcept;
    Workspace& operator=(Workspace&&) noexcept;
    ~Workspace();
    // While set, run() adds the time of each stage to `times` (a few percent slower).
    void measure_into(MelStageTimes* times);

   private:
    friend class LogMel;
    explicit Workspace(std::unique_ptr<MelScratch> scratch);
    std::unique_ptr<MelScratch> scratch_;
  };

  // Throws ConfigError when the recipe is out of range. Precondition: this machine has the level
  // (base/simd_level.h chooses one it has).
  LogMel(const config::MelRecipe& recipe, SimdLevel level,
         MelArithmetic arithmetic = MelArithmetic::kFast);
  ~LogMel();
  LogMel(LogMel&&) noexcept;
  LogMel& operator=(LogMel&&) noexcept;

  const config::MelRecipe& recipe() const noexcept;
  SimdLevel level() const noexcept;
  std::size_t num_mels() const noexcept;
  std::size_t num_frames(std::size_t num_samples) const noexcept;
  // What a batch is filled with after an utterance's last frame: the value of digital silence.
  float padding_value() const noexcept;

  // The only call that allocates. `max_samples` matters to recipes that look at the whole utterance
  // (whisper, myxtts_tf): run() refuses longer ones with them, as a bug.
  Workspace make_workspace(std::size_t max_samples) const;

  // Writes num_frames(samples.size()) rows and returns their number; precondition: out.rows is not
  // less. Rows beyond stay untouched. Allocates nothing.
  std::size_t run(std::span<const std::int16_t> samples, const MelView& out, Workspace&) const;
  std::size_t run(std::span<const float> samples, const MelView& out, Workspace&) const;

 private:
  std::unique_ptr<const MelPlan> plan_;
};

}  // namespace stoker::audio
