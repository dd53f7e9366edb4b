// Float samples as PCM16: full scale 1, rounded to nearest with ties up, clipped.
#pragma once

#include <cstdint>
#include <span>

namespace stoker::audio {

// Precondition: out is as long as samples.
void to_pcm16(std::span<const float> samples, std::span<std::int16_t> out) noexcept;

}  // namespace stoker::audio
