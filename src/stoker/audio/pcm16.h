// Float samples as PCM16: full scale 1, rounded to nearest with ties up, clipped.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker::audio {

constexpr std::int16_t pcm16_of(float sample) {
  const float scaled = std::floor(sample * 32768.0F + 0.5F);
  const float floored = scaled < -32768.0F ? -32768.0F : scaled;
  return static_cast<std::int16_t>(floored > 32767.0F ? 32767.0F : floored);
}

// Precondition: out is as long as samples.
inline void to_pcm16(std::span<const float> samples, std::span<std::int16_t> out) noexcept {
  for (std::size_t i = 0; i < samples.size(); ++i) out[i] = pcm16_of(samples[i]);
}

}  // namespace stoker::audio
