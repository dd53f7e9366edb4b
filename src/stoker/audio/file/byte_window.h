// A file seen through a small moving buffer, so that a walk over its structure needs little memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "stoker/base/io/io.h"

namespace stoker::audio {

class ByteWindow {
 public:
  // Reads `window_bytes` at a time. Precondition: `file` outlives the window and holds
  // `size_bytes`.
  ByteWindow(const File& file, std::uint64_t size_bytes, std::size_t window_bytes = 256 * 1024)
      : file_(&file), size_bytes_(size_bytes), window_bytes_(window_bytes) {}

  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  const File& file() const noexcept { return *file_; }

  // Up to `count` bytes from `at_bytes`; fewer only at the end of the file. Valid until the next
  // call.
  Result<std::span<const std::byte>> view(std::uint64_t at_bytes, std::size_t count);

 private:
  const File* file_;
  std::uint64_t size_bytes_;
  std::size_t window_bytes_;
  std::uint64_t start_bytes_ = 0;
  std::vector<std::byte> buffer_;
};

inline Result<std::span<const std::byte>> ByteWindow::view(std::uint64_t at_bytes,
                                                           std::size_t count) {
  if (at_bytes >= size_bytes_) return std::span<const std::byte>();
  const auto wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(count, size_bytes_ - at_bytes));
  const bool held = at_bytes >= start_bytes_ && at_bytes + wanted <= start_bytes_ + buffer_.size();
  if (!held) {
    const auto size = static_cast<std::size_t>(
        std::min<std::uint64_t>(std::max(wanted, window_bytes_), size_bytes_ - at_bytes));
    buffer_.resize(size);
    Result<std::size_t> got = file_->read_at(buffer_, at_bytes);
    if (!got) return std::move(got).error();
    buffer_.resize(*got);
    start_bytes_ = at_bytes;
  }
  const auto offset = static_cast<std::size_t>(at_bytes - start_bytes_);
  if (offset >= buffer_.size()) return std::span<const std::byte>();
  return std::span<const std::byte>(buffer_).subspan(offset,
                                                     std::min(wanted, buffer_.size() - offset));
}

}  // namespace stoker::audio
