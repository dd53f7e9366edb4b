// Samples to log-mel frames: one operation, for single utterances on the CPU (LogMel) and for whole
// batches on a GPU (DeviceLogMel).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "stoker/base/simd_level.h"
#include "stoker/config/mel_dtype.h"
#include "stoker/config/mel_recipe.h"
#include "stoker/cuda/stream.h"

namespace stoker::audio {

struct MelPlan;        // tables made once from the recipe
struct MelScratch;     // what one worker writes while computing
struct MelStageTimes;  // mel_stage_times.h
struct DeviceMelPlan;  // tables on the device, made once from the recipe

// [rows, num_mels]; row r begins `r * row_stride` values after `data`. Borrows the memory.
struct MelView {
  void* data = nullptr;
  config::MelDtype dtype = config::MelDtype::kF32;
  std::size_t row_stride = 0;  // in values, not bytes; at least num_mels
  std::size_t rows = 0;        // how many rows may be written
};

inline MelView mel_view(std::span<float> values, std::size_t num_mels) {
  return {.data = values.data(), .row_stride = num_mels, .rows = values.size() / num_mels};
}

// As fast as its tolerance allows, or as near as its dtype can come.
enum class MelArithmetic {
  kFast,   // f32 for the recipes that stay within their tolerance in it: the feed and the cache
  kExact,  // f64 up to the rounding of the result, at half the speed: files for others
};

// Utterances on the CPU: one fused pass per block of frames, one frame per SIMD lane.
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

enum class SampleType : std::uint8_t { kPcm16, kF32 };

// kHopper: bulk copies and warp roles (sm_90); its blocks fill a multiprocessor. kPortable: at most
// 96 KB of shared memory, sm_80 and later. Both for 1024-point recipes with a hop of 256; kGeneral
// takes every recipe. kAuto: kHopper for int16 and the filters of a preset, else kPortable where it
// can, else kGeneral.
enum class MelVariant : std::uint8_t { kAuto, kHopper, kPortable, kGeneral };

// kStay: as many blocks as the GPU holds, each until nothing is left; fastest alone. kShort: a
// block for every tile, gone after some 15 us, so that a model's kernels beside it lose no more
// than its work; not for kHopper, whose blocks fill their multiprocessor once.
enum class MelBlocks : std::uint8_t { kStay, kShort };

std::string_view mel_variant_name(MelVariant variant);

// All pointers are of the device, `samples` and `mel` aligned to 16 bytes.
struct DeviceMelBatch {
  const void* samples = nullptr;          // of all utterances
  const std::int64_t* begins = nullptr;   // [utterances]: its first sample; multiples of 8
  const std::int32_t* lengths = nullptr;  // [utterances], in samples
  int num_utterances = 0;
  int padded_frames = 0;    // at least num_frames() of the longest; more frames are cut off
  void* mel = nullptr;      // [utterances, padded_frames, num_mels]
  void* scratch = nullptr;  // scratch_bytes() of it, aligned to 256 bytes; may be null when 0
};

// Whole ragged batches on a GPU, padded rows included.
// Immutable; run() may be called from several threads, each with its own scratch. The bytes of an
// utterance depend on its samples, the recipe, the dtype and the variant only: not on neighbours,
// batch size or earlier calls. Samples follow the rules of LogMel; rows after the last
// frame hold padding_value().
class DeviceLogMel {
 public:
  struct Options {
    config::MelDtype out = config::MelDtype::kF32;
    SampleType in = SampleType::kPcm16;
    int device = 0;
    MelVariant variant = MelVariant::kAuto;
    MelBlocks blocks = MelBlocks::kStay;
  };

  // Throws ConfigError when the recipe is out of range or the variant cannot do it, GpuError when
  // there is no such GPU or its memory is full.
  DeviceLogMel(const config::MelRecipe& recipe, const Options& options);
  ~DeviceLogMel();
  DeviceLogMel(DeviceLogMel&&) noexcept;
  DeviceLogMel& operator=(DeviceLogMel&&) noexcept;

  MelVariant variant() const noexcept;  // never kAuto
  const config::MelRecipe& recipe() const noexcept;
  std::size_t num_mels() const noexcept;
  std::size_t num_frames(std::size_t num_samples) const noexcept;
  float padding_value() const noexcept;
  // 0 for most recipes; those that look at the whole utterance keep ranges and f32 values there.
  std::size_t scratch_bytes(std::size_t max_utterances, std::size_t padded_frames) const noexcept;

  // Asynchronous: one launch (up to three where the recipe needs the whole utterance), no
  // allocation, may be captured in a CUDA graph. Throws GpuError.
  void run(const DeviceMelBatch& batch, cuda::StreamView stream) const;

 private:
  std::unique_ptr<const DeviceMelPlan> plan_;
};

}  // namespace stoker::audio
