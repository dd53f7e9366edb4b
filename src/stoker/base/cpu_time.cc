#include "stoker/base/cpu_time.h"

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

}  // namespace stoker
