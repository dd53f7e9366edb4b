// A strict WAV parser on bytes: what the header promises is compared with what the file holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/audio/file/sound_file.h"
#include "stoker/audio/file/wav_format.h"
#include "stoker/base/result.h"

namespace stoker::audio {

inline constexpr std::size_t kMaxWavChunks = 1024;

struct WavHeader {
  WavFormat format;
  std::uint64_t num_samples = 0;    // of one channel
  std::uint64_t data_at_bytes = 0;  // where the samples start
  std::uint64_t data_bytes = 0;     // whole sample frames only
  std::uint32_t oddities = 0;       // SoundOddity flags
};

// Where the parser gets its bytes: memory, or a window over a file. The parser asks for a few
// bytes at a time and never for the samples.
class WavBytes {
 public:
  virtual ~WavBytes() = default;
  virtual std::uint64_t size_bytes() const noexcept = 0;
  // Fills `into` from `at_bytes`; the parser never asks past size_bytes().
  virtual Result<void> read(std::span<std::byte> into, std::uint64_t at_bytes) = 0;
};

// Walks every chunk of the file. Errors hold code, byte offset, promised and found; the caller adds
// the file's name. Memory: a few hundred bytes, whatever the file claims.
Result<WavHeader> parse_wav(WavBytes& bytes, const SoundPolicy& policy);

// The same for a file in memory.
Result<WavHeader> parse_wav(std::span<const std::byte> file, const SoundPolicy& policy);

}  // namespace stoker::audio
