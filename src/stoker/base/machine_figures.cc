#include "stoker/base/machine_figures.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "stoker/base/io/io.h"

namespace stoker {
namespace {

double seconds_of(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double process_cpu_s() noexcept { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
double thread_cpu_s() noexcept { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

double machine_idle_s() {
  const Result<File> file = open_file(system_io(), "/proc/stat", OpenFor::kRead);
  if (!file) return 0;
  std::array<char, 256> bytes{};
  const Result<std::size_t> got = file->read_at(std::as_writable_bytes(std::span(bytes)), 0);
  if (!got) return 0;
  // "cpu  user nice system idle iowait …" in ticks; the fourth and the fifth are idle.
  std::string_view line(bytes.data(), *got);
  double ticks = 0;
  for (int field = 0; field <= 5; ++field) {
    const std::size_t space = std::min(line.find(' '), line.size());
    long value = 0;
    std::from_chars(line.data(), line.data() + space, value);
    if (field >= 4) ticks += static_cast<double>(value);
    line.remove_prefix(std::min(line.find_first_not_of(' ', space), line.size()));
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

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
