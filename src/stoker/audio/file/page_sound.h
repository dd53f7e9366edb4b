// Sounds as a page carries them: FLAC, which browsers play and which takes about half of a WAV's
// bytes without losing a sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stoker::audio {

// One channel of 16 bits. A WAV where libsndfile was built without FLAC.
std::vector<std::byte> page_sound(std::span<const std::int16_t> samples, std::uint32_t rate_hz);

// The same of a WAV file; any other file, and a WAV of another kind, as it is.
std::vector<std::byte> page_sound(std::span<const std::byte> file);

}  // namespace stoker::audio
