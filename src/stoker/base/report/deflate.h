// Compressed bytes in the zlib format (RFC 1950), for the pictures we write; reading is not needed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stoker {

// Repeats within 32 KiB are replaced and the rest is coded with the fixed Huffman codes: about
// twice the size of the best, with no tables and no search worth speaking of.
std::vector<std::byte> zlib_compress(std::span<const std::byte> bytes);

}  // namespace stoker
