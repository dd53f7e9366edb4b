#include <algorithm>

#include "stoker/audio/augment_value.h"

namespace stoker::audio {
namespace {

struct Utterance {
  const std::int16_t* samples;
  std::int32_t count;
};

void measure(const Utterance& speech, const NoisePiece& noise, AugmentChange& change) {
  for (std::int32_t i = 0; i < speech.count; ++i) {
    change.speech_power += square_of(speech.samples[i]);
    change.noise_power += square_of(noise.at(i));
  }
}

template <class Write>
void mix(const AugmentBatch& batch, const Utterance& speech, const AugmentChange& change,
         Write&& write) {
  const AugmentFactors factors = factors_of(change);
  if (factors.share == 0) {
    for (std::int32_t i = 0; i < speech.count; ++i)
      write(i, mixed_value(factors, speech.samples[i], 0));
    return;
  }
  const NoisePiece noise = piece_of(batch.noises, change);
  for (std::int32_t i = 0; i < speech.count; ++i)
    write(i, mixed_value(factors, speech.samples[i], noise.at(i)));
}

}  // namespace

void augment_batch(const AugmentBatch& batch, const AugmentRule& rule) noexcept {
  const AugmentKeys keys = augment_keys(rule.seed);
  for (int u = 0; u < batch.num_utterances; ++u) {
    const std::int64_t begin = batch.begins[u];
    const Utterance speech{batch.samples + begin, std::min(batch.lengths[u], batch.max_samples)};
    AugmentChange change = drawn_change(rule, keys, batch.noises, batch.utterances[u]);
    if (change.noise >= 0) measure(speech, piece_of(batch.noises, change), change);
    if (batch.out_type == SampleType::kF32) {
      float* out = static_cast<float*>(batch.out) + begin;
      mix(batch, speech, change, [&](std::int32_t i, float value) { out[i] = value; });
    } else {
      std::int16_t* out = static_cast<std::int16_t*>(batch.out) + begin;
      mix(batch, speech, change, [&](std::int32_t i, float value) { out[i] = pcm16_of(value); });
    }
  }
}

}  // namespace stoker::audio
