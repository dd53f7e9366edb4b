// Where crc32c.cc learns of the processor's own instructions for CRC-32C.
#pragma once

#include <vector>

#include "stoker/base/digest/crc32c.h"

namespace stoker {

// Appends the ways that need special instructions and that this processor has, slowest first.
void append_fast_crc32c_paths(std::vector<Crc32cPath>& paths);

}  // namespace stoker
