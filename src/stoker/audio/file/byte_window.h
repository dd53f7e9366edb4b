// A file seen through a small moving buffer, so that a walk over its structure needs little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

}  // namespace stoker::audio
