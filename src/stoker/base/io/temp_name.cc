#include "stoker/base/io/temp_name.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>

namespace stoker {
namespace {

constexpr std::string_view kMark = ".tmp.";
constexpr std::size_t kNumDigits = 16;
constexpr std::size_t kLongestName = 255;  // NAME_MAX of every file system in use

}  // namespace

std::string temp_name_for(std::string_view name) {
  std::random_device source;
  const std::uint64_t draw = (static_cast<std::uint64_t>(source()) << 32) | source();
  // A name that may be as long as names get has no room behind it.
  const std::string_view start = name.substr(0, kLongestName - kMark.size() - kNumDigits);
  return fmt::format("{}{}{:016x}", start, kMark, draw);
}

bool is_temp_name(std::string_view name) noexcept {
  if (name.size() < kMark.size() + kNumDigits) return false;
  const std::string_view digits = name.substr(name.size() - kNumDigits);
  const std::string_view mark = name.substr(name.size() - kNumDigits - kMark.size(), kMark.size());
  return mark == kMark && digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace stoker
