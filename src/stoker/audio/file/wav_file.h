// What reading WAV files needs beside the parser: the header of a file on disk, a buffer for whole
// files that is reused, and a view of one that is in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/audio/file/wav_reader.h"
#include "stoker/base/aligned_bytes.h"
#include "stoker/base/io/io.h"

namespace stoker::audio {

// Memory for whole files: aligned to 64 bytes, never shrinks, grows without copying.
class WavBuffer {
 public:
  explicit WavBuffer(std::size_t size_bytes = 0) { grow(size_bytes); }
  std::span<std::byte> bytes() noexcept { return {data_.get(), size_bytes_}; }
  // At least `size_bytes`; what it held is lost when it grows.
  void grow(std::size_t size_bytes);

 private:
  AlignedArray<std::byte> data_;
  std::size_t size_bytes_ = 0;
};

// A parsed file in memory; `samples` borrows from it.
struct WavView {
  WavHeader header;
  std::span<const std::byte> samples;

  // The samples without a copy; empty unless they are mono PCM16.
  std::span<const std::int16_t> pcm16() const noexcept;
};

// Header alone: one stat and one read of 4 KiB for a usual file, more only for chunks elsewhere.
Result<WavHeader> load_wav_header(const File& file, const FileInfo& info,
                                  const SoundPolicy& policy = {});

}  // namespace stoker::audio
