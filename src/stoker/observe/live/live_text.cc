#include "stoker/observe/live/live_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "stoker/base/number_text.h"

namespace stoker::observe {

std::string clock_text(std::int64_t unix_ns) {
  constexpr std::int64_t kNsPerS = 1'000'000'000;
  const std::time_t at = unix_ns / kNsPerS;
  std::tm parts{};
  ::localtime_r(&at, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string gib_text(std::uint64_t size_bytes) {
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  return fmt::format("{:.1f}", static_cast<double>(size_bytes) / kGib);
}

std::string percent_text(std::optional<double> share) {
  if (!share || !std::isfinite(*share)) return "-";
  const double percent = 100 * *share;
  return percent < 9.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string rate_text(std::optional<double> bytes_per_s) {
  if (!bytes_per_s) return "-";
  constexpr double kMb = 1e6, kManyMb = 100;
  const double mb = *bytes_per_s / kMb;
  return mb < kManyMb ? fmt::format("{:.1f} MB/s", mb) : fmt::format("{:.0f} MB/s", mb);
}

std::string count_text(double value) {
  constexpr double kWhole = 100, kTenths = 10;
  if (value >= kWhole) return grouped(static_cast<std::uint64_t>(std::llround(value)));
  return value >= kTenths ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string ago_text(double seconds) {
  constexpr double kMinute = 60;
  return seconds < kMinute ? fmt::format("{:.0f} s", std::floor(seconds)) : seconds_text(seconds);
}

std::string card_name(const std::string& name) {
  constexpr std::string_view kMaker = "NVIDIA ";
  return name.starts_with(kMaker) ? name.substr(kMaker.size()) : name;
}

// The limit of a container counts where it is the smaller one.
std::optional<double> memory_share(const MemoryWindow& memory) {
  return memory.available_share ? std::optional(1 - *memory.available_share) : std::nullopt;
}

std::string memory_text(const MemoryWindow& memory) {
  const std::optional<double> used = memory_share(memory);
  if (!used || !memory.total_bytes) return "-";
  const std::uint64_t all =
      std::min(*memory.total_bytes, memory.limit_bytes.value_or(*memory.total_bytes));
  return fmt::format("{} of {} GiB",
                     gib_text(static_cast<std::uint64_t>(*used * static_cast<double>(all))),
                     gib_text(all));
}

std::string no_gpu_text(const LiveFigures& figures) {
  return "no GPU: " + (figures.why_no_gpu.empty() ? "none was found" : figures.why_no_gpu);
}

std::string disk_name(const StorageWindow& storage) {
  const std::string& system = storage.file_system;
  if (storage.device.empty()) return system.empty() ? "unknown" : system;
  return system.empty() ? storage.device : fmt::format("{} ({})", storage.device, system);
}

}  // namespace stoker::observe
