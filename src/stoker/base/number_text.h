// Numbers as people read them: thousands grouped, bytes and durations with a unit.
#pragma once

#include <cstdint>
#include <string>

namespace stoker {

std::string grouped(std::uint64_t value);          // 213,000
std::string bytes_text(std::uint64_t size_bytes);  // "1.2 GiB", "512 bytes"
std::string seconds_text(double seconds);          // "350 ms", "12.4 s", "3 min 20 s", "2 h 5 min"

}  // namespace stoker
