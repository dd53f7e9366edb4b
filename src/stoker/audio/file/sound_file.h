// Sound files of any kind as mono samples; the content tells the kind, not the suffix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker::audio {

enum class SoundFormat : std::uint8_t { kWav, kFlac, kOgg, kMp3 };
enum class SampleFormat : std::uint8_t { kU8, kS16, kS24, kS32, kF32, kF64, kCoded };

// Oddities that do not make a file unusable; the index counts and lists them.
enum SoundOddity : std::uint32_t {
  kOddRiffSize = 1U << 0U,       // the RIFF size is not the file's
  kOddTrailingBytes = 1U << 1U,  // bytes after the last chunk
  kOddDataBytes = 1U << 2U,      // the data are not a whole number of sample frames
  kOddStreamed = 1U << 3U,       // sizes left open by a streaming writer
  kOddMissingPad = 1U << 4U,     // an odd chunk without its pad byte
  kOddByteRate = 1U << 5U,       // the byte rate is not rate x block_align
  kOddSuffix = 1U << 6U,         // the content is of another kind than the suffix says
};

// Sample frames as they are in a file, channels side by side.
struct InterleavedSamples {
  SampleFormat format = SampleFormat::kS16;
  std::uint32_t num_channels = 1;
  std::span<const std::byte> bytes;
};

// What a user may allow or forbid.
struct SoundPolicy {
  bool allow_streamed = false;                    // data size 0xFFFFFFFF: the rest of the file
  bool allow_odd_data = true;                     // a partial last sample frame is left out
  bool allow_mix = true;                          // more than one channel is mixed to their mean
  std::uint64_t max_file_bytes = 0xFFFF'FFFFULL;  // what 32-bit size fields can describe
};

struct SoundInfo {
  SoundFormat format = SoundFormat::kWav;
  SampleFormat sample_format = SampleFormat::kS16;
  std::uint32_t rate_hz = 0;
  std::uint32_t num_channels = 0;
  std::uint64_t num_samples = 0;    // of one channel
  std::uint64_t data_at_bytes = 0;  // WAV: where the samples start
  std::uint64_t file_bytes = 0;
  std::uint32_t oddities = 0;  // SoundOddity flags
  FileInfo file;               // as it was when the header was read
};

// Header against content, without reading the samples (a codec that cannot seek may have to).
Result<SoundInfo> read_sound_info(const File& file, const SoundPolicy& policy = {});

// Reads samples as one channel into the caller's buffer. One reader a worker: it keeps its scratch
// memory, so that the hot path neither allocates nor touches fresh pages.
class SoundReader {
 public:
  // Samples [first_sample, first_sample + out.size()). Several channels give their mean. PCM16 of
  // wider formats is rounded to nearest and clipped; float is scaled so that full scale is 1
  // (int16 / 32768). Reads only the bytes of the range. E-WAV-NONFINITE names the first sample
  // that is not a number; E-WAV-CHANGED a file that is no longer what `info` says.
  Result<void> read_pcm16(const File& file, const SoundInfo& info, std::uint64_t first_sample,
                          std::span<std::int16_t> out);
  Result<void> read_float(const File& file, const SoundInfo& info, std::uint64_t first_sample,
                          std::span<float> out);
  // As read_pcm16() for an `out` that this thread will not read: PCM16 of one channel passes
  // through a small buffer that stays in the cache and goes on to `out` past the caches.
  Result<void> stream_pcm16(const File& file, const SoundInfo& info, std::uint64_t first_sample,
                            std::span<std::int16_t> out);

 private:
  Result<InterleavedSamples> load(const File& file, const SoundInfo& info,
                                  std::uint64_t first_sample, std::size_t count);

  std::vector<std::byte> scratch_;
};

// Whether a file name ends in a suffix that some reader knows (".wav", ".flac", …), any case.
bool has_sound_suffix(std::string_view file_name) noexcept;

}  // namespace stoker::audio
