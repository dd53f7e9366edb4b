#include "stoker/audio/file/page_sound.h"

#include <sndfile.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "stoker/audio/file/wav_file.h"
#include "stoker/audio/file/wav_writer.h"

namespace stoker::audio {
namespace {

// A file in memory; the encoder comes back to its beginning when it knows the length.
struct MemoryFile {
  std::vector<std::byte> bytes;
  std::size_t at = 0;

  static MemoryFile& of(void* self) { return *static_cast<MemoryFile*>(self); }
  static sf_count_t length(void* self) { return static_cast<sf_count_t>(of(self).bytes.size()); }
  static sf_count_t tell(void* self) { return static_cast<sf_count_t>(of(self).at); }
  static sf_count_t seek(sf_count_t offset, int whence, void* self) {
    const sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? tell(self) : length(self);
    of(self).at = static_cast<std::size_t>(std::clamp<sf_count_t>(base + offset, 0, length(self)));
    return tell(self);
  }
  static sf_count_t read(void* into, sf_count_t count, void* self) {
    MemoryFile& file = of(self);
    const std::size_t got = std::min(static_cast<std::size_t>(count), file.bytes.size() - file.at);
    if (got > 0) std::memcpy(into, file.bytes.data() + file.at, got);
    file.at += got;
    return static_cast<sf_count_t>(got);
  }
  static sf_count_t write(const void* from, sf_count_t count, void* self) {
    MemoryFile& file = of(self);
    const auto size = static_cast<std::size_t>(count);
    try {
      file.bytes.resize(std::max(file.bytes.size(), file.at + size));
    } catch (const std::bad_alloc&) {
      return 0;  // the caller is C
    }
    if (size > 0) std::memcpy(file.bytes.data() + file.at, from, size);
    file.at += size;
    return count;
  }
};

// Empty where it cannot be done.
std::vector<std::byte> flac_bytes(std::span<const std::int16_t> samples, std::uint32_t rate_hz) {
  static SF_VIRTUAL_IO calls{MemoryFile::length, MemoryFile::seek, MemoryFile::read,
                             MemoryFile::write, MemoryFile::tell};
  SF_INFO format{};
  format.samplerate = static_cast<int>(rate_hz);
  format.channels = 1;
  format.format = SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
  MemoryFile file;
  SNDFILE* const sound = sf_open_virtual(&calls, SFM_WRITE, &format, &file);
  if (sound == nullptr) return {};
  double smallest = 1;
  sf_command(sound, SFC_SET_COMPRESSION_LEVEL, &smallest, sizeof smallest);
  const auto count = static_cast<sf_count_t>(samples.size());
  const bool is_written = sf_writef_short(sound, samples.data(), count) == count;
  const bool is_closed = sf_close(sound) == 0;
  return is_written && is_closed ? std::move(file.bytes) : std::vector<std::byte>();
}

}  // namespace

std::vector<std::byte> page_sound(std::span<const std::int16_t> samples, std::uint32_t rate_hz) {
  std::vector<std::byte> bytes = flac_bytes(samples, rate_hz);
  return bytes.empty() ? wav_pcm16_bytes(samples, rate_hz) : bytes;
}

std::vector<std::byte> page_sound(std::span<const std::byte> file) {
  const Result<WavHeader> header = parse_wav(file, {});
  if (!header) return {file.begin(), file.end()};
  const WavView view{*header, file.subspan(header->data_at_bytes, header->data_bytes)};
  const std::span<const std::int16_t> samples = view.pcm16();
  if (samples.empty()) return {file.begin(), file.end()};
  return page_sound(samples, header->format.rate_hz);
}

}  // namespace stoker::audio
