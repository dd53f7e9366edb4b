#include "stoker/observe/live/process_files.h"

#include <unistd.h>

#include <string>
#include <string_view>

namespace stoker::observe {
namespace {

// Time in user mode and in the kernel are the 14th and 15th words; the second one, a name in
// brackets, may hold anything.
std::optional<double> cpu_seconds(std::string_view text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos) return std::nullopt;
  std::string_view rest = text.substr(name_end + 1);
  constexpr int kWordsBefore = 11;
  for (int i = 0; i < kWordsBefore; ++i) take_word(rest);
  const std::optional<std::uint64_t> user = leading_number(take_word(rest));
  const std::optional<std::uint64_t> kernel = leading_number(take_word(rest));
  if (!user || !kernel) return std::nullopt;
  return static_cast<double>(*user + *kernel) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

template <class Number>
std::optional<double> rate(const std::optional<Number>& before, const std::optional<Number>& after,
                           double passed_s) {
  if (!before || !after || *after < *before || passed_s <= 0) return std::nullopt;
  return static_cast<double>(*after - *before) / passed_s;
}

}  // namespace

std::optional<LiveProcess> ProcessFiles::read(int pid, std::chrono::nanoseconds now) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const std::optional<std::string_view> stat = files_.text(folder + "/stat");
  if (!stat) return std::nullopt;
  Counters counters{.cpu_s = cpu_seconds(*stat)};
  LiveProcess process{.pid = pid};
  if (const auto status = files_.text(folder + "/status")) {
    constexpr std::uint64_t kBytesPerKb = 1024;
    if (const auto resident_kb = number_after(*status, "VmRSS"))
      process.memory_bytes = *resident_kb * kBytesPerKb;
  }
  if (const auto io = files_.text(folder + "/io"))
    counters.read_bytes = number_after(*io, "read_bytes");
  if (pid == last_pid_) {
    const double passed_s = std::chrono::duration<double>(now - last_at_).count();
    process.cpu_cores = rate(last_.cpu_s, counters.cpu_s, passed_s);
    process.read_bytes_per_s = rate(last_.read_bytes, counters.read_bytes, passed_s);
  }
  last_pid_ = pid;
  last_at_ = now;
  last_ = counters;
  return process;
}

}  // namespace stoker::observe
