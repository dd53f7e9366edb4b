// Interleaved samples of any WAV format as one channel of float or PCM16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/audio/file/sound_file.h"

namespace stoker::audio {

inline constexpr std::size_t kAllFinite = static_cast<std::size_t>(-1);

// Full scale is 1: u8 (x-128)/128, s16 x/32768, s24 x/2^23, s32 x/2^31, float as it is. Several
// channels give their mean, summed in double and rounded once. Returns the index of the first
// sample that is not finite, or kAllFinite. Precondition of both: in.bytes holds out.size() sample
// frames.
std::size_t to_mono_float(const InterleavedSamples& in, std::span<float> out) noexcept;

// One channel of integers keeps its upper 16 bits (a shift, as libsndfile does); float and means
// are rounded to nearest, ties up, and clipped.
std::size_t to_mono_pcm16(const InterleavedSamples& in, std::span<std::int16_t> out) noexcept;

}  // namespace stoker::audio
