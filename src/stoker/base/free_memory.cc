#include "stoker/base/free_memory.h"

#include <array>
#include <charconv>
#include <string_view>

#include "stoker/base/io/io.h"

namespace stoker {

std::uint64_t available_memory_bytes() {
  const Result<File> file = open_file(system_io(), "/proc/meminfo", OpenFor::kRead);
  if (!file) return 0;
  std::array<char, 1024> bytes{};
  const Result<std::size_t> got = file->read_at(std::as_writable_bytes(std::span(bytes)), 0);
  if (!got) return 0;
  const std::string_view text(bytes.data(), *got);
  const std::size_t line = text.find("MemAvailable:");
  if (line == std::string_view::npos) return 0;
  const std::size_t digit = text.find_first_of("0123456789", line);
  if (digit == std::string_view::npos) return 0;
  std::uint64_t kib = 0;
  std::from_chars(text.data() + digit, text.data() + text.size(), kib);
  return kib * 1024;
}

}  // namespace stoker
