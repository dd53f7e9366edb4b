// WAV files at the speed of a copy: one read of header and samples into a buffer that is reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "stoker/audio/file/wav_reader.h"
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
  struct Free {
    void operator()(std::byte* at) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_bytes_ = 0;
};

// A parsed file that lies in memory; `samples` borrows from the buffer or mapping.
struct WavView {
  WavHeader header;
  std::span<const std::byte> samples;

  // The samples without a copy; empty unless they are mono PCM16.
  std::span<const std::int16_t> pcm16() const noexcept;
};

// Reads the whole file in one call where the buffer is large enough (index entries say how large),
// in two otherwise; memory is bounded by the bytes present. Errors name the file.
Result<WavView> load_wav(const File& file, WavBuffer& buffer, const SoundPolicy& policy = {});

// Header alone: one stat and one read of 4 KiB for a usual file, more only for chunks elsewhere.
Result<WavHeader> load_wav_header(const File& file, const FileInfo& info,
                                  const SoundPolicy& policy = {});

// A read-only mapping of a file; a file that is cut off while it is mapped raises SIGBUS on access.
class WavMapping {
 public:
  static Result<WavMapping> open(const File& file, const SoundPolicy& policy = {});
  WavMapping(WavMapping&& other) noexcept;
  WavMapping& operator=(WavMapping&& other) noexcept;
  ~WavMapping();

  const WavView& view() const noexcept { return view_; }

 private:
  WavMapping(Io& io, std::span<const std::byte> mapped) : io_(&io), mapped_(mapped) {}
  Io* io_;
  std::span<const std::byte> mapped_;
  WavView view_;
};

}  // namespace stoker::audio
