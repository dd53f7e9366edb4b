// A copy into memory that this core will not read again: past the caches, without fetching the
// lines it overwrites.
#pragma once

#include <cstddef>
#include <span>

namespace stoker {

// Precondition: `to` has room for `from` and does not overlap it. Other threads and devices see the
// bytes after the usual hand-over. Where the machine has no streaming stores: a plain copy.
void stream_copy(std::span<const std::byte> from, std::byte* to) noexcept;

}  // namespace stoker
