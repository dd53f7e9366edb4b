#include "stoker/audio/pcm16.h"

namespace stoker::audio {

void to_pcm16(std::span<const float> samples, std::span<std::int16_t> out) noexcept {
  for (std::size_t i = 0; i < samples.size(); ++i) out[i] = pcm16_of(samples[i]);
}

}  // namespace stoker::audio
