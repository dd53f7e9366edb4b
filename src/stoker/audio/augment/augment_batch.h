// Gain and noise for a whole ragged batch of PCM16, drawn by key: one operation, the same bytes on
// the CPU and on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/base/philox.h"
#include "stoker/cuda/stream.h"

namespace stoker::audio {

struct Range {
  double low = 0;
  double high = 0;
};

// What may happen to an utterance. The draws are keyed by seed, epoch and utterance, so a resume
// hears the same.
struct AugmentRule {
  std::uint64_t seed = kDefaultSeed;
  std::uint64_t epoch = 0;
  Range gain_db{0, 0};
  double noise_probability = 0.3;
  Range snr_db{10, 30};
};

// PCM16 of several noises, one after the other.
struct NoiseBank {
  const std::int16_t* samples = nullptr;
  const std::int64_t* begins = nullptr;   // [noises]
  const std::int32_t* lengths = nullptr;  // [noises]; an empty one is never heard
  int num_noises = 0;
};

// y = gain * speech + share * noise, the share such that the drawn ratio of powers holds; silence,
// and speech under a silent piece of noise, get the gain alone. PCM16 is rounded as in pcm16.h.
struct AugmentBatch {
  const std::int16_t* samples = nullptr;      // of all utterances, aligned to 16 bytes
  const std::int64_t* begins = nullptr;       // [utterances]: its first sample; multiples of 8
  const std::int32_t* lengths = nullptr;      // [utterances], in samples
  const std::uint64_t* utterances = nullptr;  // [utterances]: hash64(id)
  int num_utterances = 0;
  int max_samples = 0;  // of the longest; what is beyond is left out
  NoiseBank noises{};
  void* out = nullptr;  // aligned as `samples`; with PCM16 and no out_begins it may be `samples`
  const std::int64_t* out_begins = nullptr;  // as begins, in `out`; null: laid out as `samples`
  SampleType out_type = SampleType::kPcm16;
};

// Pointers of the host.
void augment_batch(const AugmentBatch& batch, const AugmentRule& rule) noexcept;

std::size_t augment_scratch_bytes(std::size_t num_utterances) noexcept;

// Pointers of the device that the stream belongs to, made current by the caller; `scratch` is
// augment_scratch_bytes() of it, aligned to 8. Asynchronous, three launches, no allocation. Throws
// GpuError.
struct AugmentPlace {
  void* scratch = nullptr;
  cuda::StreamView stream;
};
void augment_batch(const AugmentBatch& batch, const AugmentRule& rule, const AugmentPlace& place);

}  // namespace stoker::audio
