#include "stoker/audio/file/wav_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/audio/errors.h"
#include "stoker/audio/file/byte_window.h"
#include "stoker/base/checked.h"
#include "stoker/base/number_text.h"

namespace stoker::audio {
namespace {

constexpr std::size_t kWindowBytes = 4096;

Error in_file(Error error, const File& file) {
  if (error.place.file.empty()) error.place.file = file.path();
  return error;
}

// The parser's bytes, read from the file a small window at a time.
class FileBytes final : public WavBytes {
 public:
  FileBytes(const File& file, std::uint64_t size_bytes) : window_(file, size_bytes, kWindowBytes) {}
  std::uint64_t size_bytes() const noexcept override { return window_.size_bytes(); }

  Result<void> read(std::span<std::byte> into, std::uint64_t at_bytes) override {
    const auto held = window_.view(at_bytes, into.size());
    if (!held.ok()) return held.error();
    if (held->size() < into.size()) return shrunk(at_bytes + held->size());
    std::ranges::copy(held->first(into.size()), into.begin());
    return {};
  }

 private:
  Error shrunk(std::uint64_t now_bytes) const {
    return {.code = &kWavChanged,
            .place = {.file = window_.file().path(), .byte = now_bytes},
            .promised = fmt::format("{} bytes, as when opened", grouped(size_bytes())),
            .found = grouped(now_bytes)};
  }

  ByteWindow window_;
};

}  // namespace

void WavBuffer::grow(std::size_t size_bytes) {
  if (size_bytes <= size_bytes_) return;
  const std::size_t rounded = round_up(size_bytes, kCacheLineBytes);
  data_ = make_aligned<std::byte>(rounded);
  size_bytes_ = rounded;
}

std::span<const std::int16_t> WavView::pcm16() const noexcept {
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(samples.data()) % alignof(std::int16_t) == 0;
  if (header.format.sample_format != SampleFormat::kS16 || header.format.num_channels != 1 ||
      !aligned)
    return {};
  return {reinterpret_cast<const std::int16_t*>(samples.data()), header.num_samples};
}

Result<WavHeader> load_wav_header(const File& file, const FileInfo& info,
                                  const SoundPolicy& policy) {
  FileBytes bytes(file, info.size_bytes);
  auto header = parse_wav(bytes, policy);
  if (!header.ok()) return in_file(std::move(header).error(), file);
  return header;
}

}  // namespace stoker::audio
