#include "stoker/audio/file/byte_window.h"

#include <algorithm>

namespace stoker::audio {

Result<std::span<const std::byte>> ByteWindow::view(std::uint64_t at_bytes, std::size_t count) {
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
