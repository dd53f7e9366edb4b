#include "stoker/audio/file/wav_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "stoker/audio/errors.h"
#include "stoker/base/checked.h"
#include "stoker/base/number_text.h"

namespace stoker::audio {
namespace {

constexpr std::size_t kAlignBytes = 64;
constexpr std::size_t kWindowBytes = 4096;

Error in_file(Error error, const File& file) {
  if (error.place.file.empty()) error.place.file = file.path();
  return error;
}

// The first bytes of a file, and later other places of it, as the parser asks.
class FileWindow final : public WavBytes {
 public:
  FileWindow(const File& file, std::uint64_t size_bytes) : file_(file), size_bytes_(size_bytes) {}
  std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

  Result<void> read(std::span<std::byte> into, std::uint64_t at_bytes) override {
    if (at_bytes < at_bytes_ || at_bytes + into.size() > at_bytes_ + held_bytes_) {
      const auto wanted = std::min<std::uint64_t>(kWindowBytes, size_bytes_ - at_bytes);
      auto got = file_.read_at(std::span(window_).first(wanted), at_bytes);
      if (!got.ok()) return got.error();
      at_bytes_ = at_bytes;
      held_bytes_ = *got;
    }
    if (at_bytes + into.size() > at_bytes_ + held_bytes_) return shrunk();
    std::memcpy(into.data(), window_.data() + (at_bytes - at_bytes_), into.size());
    return {};
  }

 private:
  Error shrunk() const {
    return {.code = &kWavChanged,
            .place = {.file = file_.path(), .byte = at_bytes_ + held_bytes_},
            .promised = fmt::format("{} bytes when opened", grouped(size_bytes_)),
            .found = fmt::format("{} now", grouped(at_bytes_ + held_bytes_))};
  }

  const File& file_;
  std::uint64_t size_bytes_;
  std::array<std::byte, kWindowBytes> window_;
  std::uint64_t at_bytes_ = 0;
  std::uint64_t held_bytes_ = 0;
};

// Usually one system call: what the kernel gives short of a full buffer is the file's end, or was
// cut by a signal, which the parser notices.
Result<std::size_t> read_once(const File& file, std::span<std::byte> into) {
  const SysResult got = file.io().pread(file.handle(), into, 0);
  if (got.ok()) return static_cast<std::size_t>(got.value);
  return file.read_at(into, 0);
}

Result<WavView> view_of(std::span<const std::byte> content, const SoundPolicy& policy) {
  auto header = parse_wav(content, policy);
  if (!header.ok()) return std::move(header).error();
  return WavView{.header = *header,
                 .samples = content.subspan(header->data_at_bytes, header->data_bytes)};
}

}  // namespace

void WavBuffer::Free::operator()(std::byte* at) const noexcept { std::free(at); }

void WavBuffer::grow(std::size_t size_bytes) {
  if (size_bytes <= size_bytes_) return;
  const std::size_t rounded = round_up(size_bytes, kAlignBytes);
  auto* fresh = static_cast<std::byte*>(std::aligned_alloc(kAlignBytes, rounded));
  if (fresh == nullptr) throw std::bad_alloc();
  data_.reset(fresh);
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

Result<WavView> load_wav(const File& file, WavBuffer& buffer, const SoundPolicy& policy) {
  auto got = buffer.bytes().empty() ? Result<std::size_t>(0) : read_once(file, buffer.bytes());
  if (got.ok() && *got == buffer.bytes().size()) {  // there may be more than the buffer can hold
    auto info = file.info();
    if (!info.ok()) return std::move(info).error();
    if (info->size_bytes > policy.max_file_bytes) {
      auto refusal = load_wav_header(file, *info, policy);
      return std::move(refusal).error();
    }
    buffer.grow(info->size_bytes + 1);
    got = read_once(file, buffer.bytes());
  }
  if (!got.ok()) return in_file(std::move(got).error(), file);
  auto view = view_of(buffer.bytes().first(*got), policy);
  if (!view.ok()) {
    const auto more = file.read_at(buffer.bytes().subspan(*got), *got);
    if (!more.ok()) return in_file(more.error(), file);
    if (*more > 0) view = view_of(buffer.bytes().first(*got + *more), policy);
  }
  if (!view.ok()) return in_file(std::move(view).error(), file);
  return view;
}

Result<WavHeader> load_wav_header(const File& file, const FileInfo& info,
                                  const SoundPolicy& policy) {
  FileWindow window(file, info.size_bytes);
  auto header = parse_wav(window, policy);
  if (!header.ok()) return in_file(std::move(header).error(), file);
  return header;
}

Result<WavMapping> WavMapping::open(const File& file, const SoundPolicy& policy) {
  auto info = file.info();
  if (!info.ok()) return std::move(info).error();
  if (info->size_bytes == 0 || info->size_bytes > policy.max_file_bytes) {
    auto refusal = load_wav_header(file, *info, policy);
    return std::move(refusal).error();
  }
  const std::byte* at = nullptr;
  const SysResult mapped = file.io().map(file.handle(), info->size_bytes, at);
  if (!mapped.ok()) return io_error("map", file.path(), mapped.error_number);
  WavMapping mapping(file.io(), {at, info->size_bytes});
  auto view = view_of(mapping.mapped_, policy);
  if (!view.ok()) return in_file(std::move(view).error(), file);
  mapping.view_ = *view;
  return mapping;
}

WavMapping::WavMapping(WavMapping&& other) noexcept
    : io_(other.io_), mapped_(std::exchange(other.mapped_, {})), view_(other.view_) {}

WavMapping& WavMapping::operator=(WavMapping&& other) noexcept {
  std::swap(io_, other.io_);
  std::swap(mapped_, other.mapped_);
  std::swap(view_, other.view_);
  return *this;
}

WavMapping::~WavMapping() {
  if (!mapped_.empty()) io_->unmap(mapped_.data(), mapped_.size());
}

}  // namespace stoker::audio
