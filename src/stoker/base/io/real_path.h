// Paths that need not exist: made absolute, and followed up to the nearest folder that does.
#pragma once

#include <filesystem>

namespace stoker {

// Absolute, without "." and "..", links resolved as far as the path exists; where the system
// refuses to follow it (loops, names too long) only the text is put in order. Never empty, never
// throws for what the path says.
std::filesystem::path real_path(const std::filesystem::path& path);

// The path itself or its nearest parent that is there; at the latest "/".
std::filesystem::path nearest_existing(const std::filesystem::path& path);

}  // namespace stoker
