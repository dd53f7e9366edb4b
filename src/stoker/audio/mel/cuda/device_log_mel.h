// Samples to log-mel frames on a GPU: a whole ragged batch in one launch, padded rows included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "stoker/config/mel_dtype.h"
#include "stoker/config/mel_recipe.h"
#include "stoker/cuda/stream.h"

namespace stoker::audio {

struct DeviceMelPlan;  // tables on the device, made once from the recipe

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

// All pointers lie on the device, `samples` and `mel` aligned to 16 bytes.
struct DeviceMelBatch {
  const void* samples = nullptr;          // of all utterances
  const std::int64_t* begins = nullptr;   // [utterances]: its first sample; multiples of 8
  const std::int32_t* lengths = nullptr;  // [utterances], in samples
  int num_utterances = 0;
  int padded_frames = 0;    // at least num_frames() of the longest; more frames are cut off
  void* mel = nullptr;      // [utterances, padded_frames, num_mels]
  void* scratch = nullptr;  // scratch_bytes() of it, aligned to 256 bytes; may be null when 0
};

// Immutable; run() may be called from several threads, each with its own scratch. The bytes of an
// utterance depend on its samples, the recipe, the dtype and the variant only: not on neighbours,
// batch size or earlier calls. Samples follow the rules of LogMel (log_mel.h); rows after the last
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
