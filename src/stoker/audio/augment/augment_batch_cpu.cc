#include <algorithm>

#include "stoker/audio/augment/augment_value.h"

namespace stoker::audio {
namespace {

struct Utterance {
  const std::int16_t* samples;
  std::int32_t count;
};

// use(first, count, noise) for each stretch of the noise that does not start again.
template <class Use>
void for_stretches(const NoisePiece& noise, std::int32_t count, Use&& use) {
  std::int32_t at = noise.first;
  for (std::int32_t done = 0; done < count;) {
    const std::int32_t stretch = std::min(count - done, noise.length - at);
    use(done, stretch, noise.samples + at);
    done += stretch;
    at = 0;
  }
}

std::uint64_t power_of(const std::int16_t* samples, std::int32_t count) {
  std::uint64_t power = 0;
  for (std::int32_t i = 0; i < count; ++i) power += square_of(samples[i]);
  return power;
}

void measure(const Utterance& speech, const NoisePiece& noise, AugmentChange& change) {
  change.speech_power = power_of(speech.samples, speech.count);
  for_stretches(noise, speech.count,
                [&](std::int32_t, std::int32_t stretch, const std::int16_t* heard) {
                  change.noise_power += power_of(heard, stretch);
                });
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
  for_stretches(piece_of(batch.noises, change), speech.count,
                [&](std::int32_t first, std::int32_t stretch, const std::int16_t* heard) {
                  for (std::int32_t i = 0; i < stretch; ++i)
                    write(first + i, mixed_value(factors, speech.samples[first + i], heard[i]));
                });
}

}  // namespace

void augment_batch(const AugmentBatch& batch, const AugmentRule& rule) noexcept {
  const AugmentKeys keys = augment_keys(rule.seed);
  for (int u = 0; u < batch.num_utterances; ++u) {
    const std::int64_t begin = batch.begins[u];
    const Utterance speech{batch.samples + begin, std::min(batch.lengths[u], batch.max_samples)};
    AugmentChange change = drawn_change(rule, keys, batch.noises, batch.utterances[u]);
    if (change.noise >= 0) measure(speech, piece_of(batch.noises, change), change);
    const std::int64_t out_begin = batch.out_begins == nullptr ? begin : batch.out_begins[u];
    if (batch.out_type == SampleType::kF32) {
      float* out = static_cast<float*>(batch.out) + out_begin;
      mix(batch, speech, change, [&](std::int32_t i, float value) { out[i] = value; });
    } else {
      std::int16_t* out = static_cast<std::int16_t*>(batch.out) + out_begin;
      mix(batch, speech, change, [&](std::int32_t i, float value) { out[i] = pcm16_of(value); });
    }
  }
}

}  // namespace stoker::audio
