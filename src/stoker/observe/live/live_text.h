// Words and numbers that the views of a terminal, a line and a page share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/observe/live/live_figures.h"

namespace stoker::observe {

std::string clock_text(std::int64_t unix_ns);              // "05:06:50", local time
std::string gib_text(std::uint64_t size_bytes);            // "41.2"
std::string percent_text(std::optional<double> share);     // "3.1 %"; "-" where it is not known
std::string rate_text(std::optional<double> bytes_per_s);  // "12.1 MB/s"
std::string count_text(double value);                      // "81,000", "12.3", "0.42"
std::string ago_text(double seconds);                      // "12 s", "1 min 20 s"
// "NVIDIA H200" -> "H200".
std::string card_name(const std::string& name);
std::string memory_text(const MemoryWindow& memory);  // "3.1 of 15.6 GiB"
std::optional<double> memory_share(const MemoryWindow& memory);
// "GPU: none: libnvidia-ml.so.1 is not here: no NVIDIA driver"
std::string no_gpu_text(const LiveFigures& figures);
std::string disk_name(const StorageWindow& storage);  // "vda (ext4)"

}  // namespace stoker::observe
