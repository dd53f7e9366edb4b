#include "stoker/audio/pcm16.h"

#include <algorithm>
#include <cmath>

namespace stoker::audio {

void to_pcm16(std::span<const float> samples, std::span<std::int16_t> out) noexcept {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const float scaled = std::floor(samples[i] * 32768.0F + 0.5F);
    out[i] = static_cast<std::int16_t>(std::clamp(scaled, -32768.0F, 32767.0F));
  }
}

}  // namespace stoker::audio
