// The fmt chunk of a WAV file: what its samples are, checked field by field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/audio/file/sound_file.h"
#include "stoker/base/result.h"

namespace stoker::audio {

inline constexpr std::uint32_t kMaxWavChannels = 64;
inline constexpr std::uint32_t kMinWavRateHz = 1'000;
inline constexpr std::uint32_t kMaxWavRateHz = 768'000;
inline constexpr std::size_t kMaxWavFmtBytes = 4096;

struct WavFormat {
  SampleFormat sample_format = SampleFormat::kS16;
  std::uint32_t rate_hz = 0;
  std::uint32_t num_channels = 0;
  std::uint32_t block_bytes = 0;  // one sample of every channel
  std::uint32_t oddities = 0;
};

// `body` is the chunk without its id and size; `at_bytes` its offset in the file, for messages.
Result<WavFormat> parse_wav_format(std::span<const std::byte> body, std::uint64_t at_bytes,
                                   const SoundPolicy& policy);

// Bytes of one sample of one channel; 0 for coded formats.
std::uint32_t sample_bytes(SampleFormat format) noexcept;

}  // namespace stoker::audio
