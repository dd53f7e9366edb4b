// Numbers as people read them: thousands grouped, bytes and durations with a unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker {

std::string grouped(std::uint64_t value);          // 213,000
std::string bytes_text(std::uint64_t size_bytes);  // "1.2 GiB", "512 bytes"
std::string seconds_text(double seconds);          // "350 ms", "12.4 s", "3 min 20 s", "2 h 5 min"

// A rate, without its unit: "412", "7.3".
std::string per_second_text(double per_second);

// A count with its noun: "1 batch", "213,000 batches".
std::string counted(std::uint64_t value, std::string_view one, std::string_view many);

}  // namespace stoker
