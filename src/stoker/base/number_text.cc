#include "stoker/base/number_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace stoker {

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string bytes_text(std::uint64_t size_bytes) {
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (size_bytes < 1024) return fmt::format("{} bytes", size_bytes);
  double scaled = static_cast<double>(size_bytes) / 1024.0;
  std::size_t unit = 0;
  while (scaled >= 1024.0 && unit + 1 < kUnits.size()) {
    scaled /= 1024.0;
    ++unit;
  }
  return fmt::format("{:.1f} {}", scaled, kUnits[unit]);
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  if (seconds < 1.0) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60.0) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string per_second_text(double per_second) {
  return per_second < 10.0 ? fmt::format("{:.1f}", per_second)
                           : grouped(static_cast<std::uint64_t>(per_second));
}

std::string counted(std::uint64_t value, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped(value), value == 1 ? one : many);
}

}  // namespace stoker
