// How much memory the machine could still give, before anybody has to be pushed out.
#pragma once

#include <cstdint>

namespace stoker {

// What the kernel calls available: free, or dropped without harm. 0 where /proc does not tell.
std::uint64_t available_memory_bytes();

}  // namespace stoker
