#include "stoker/observe/machine/cpu_files.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "stoker/base/cpu_count.h"

namespace stoker::observe {
namespace {

constexpr std::size_t kMostThreads = 512;

double tick_s() { return 1.0 / static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK))); }

struct CoreTicks {
  std::uint64_t busy = 0;
  std::uint64_t steal = 0;
  std::uint64_t total = 0;
};

// "user nice system idle iowait irq softirq steal guest …"; guests are counted under user already.
CoreTicks core_ticks(std::string_view numbers) {
  constexpr std::size_t kIdle = 3, kIoWait = 4, kSteal = 7, kEnd = 8;
  CoreTicks ticks;
  for (std::size_t field = 0; field < kEnd; ++field) {
    const std::uint64_t value = leading_number(take_word(numbers)).value_or(0);
    ticks.total += value;
    if (field == kSteal) ticks.steal = value;
    if (field != kIdle && field != kIoWait && field != kSteal) ticks.busy += value;
  }
  return ticks;
}

// Names are read each time: a new thread has its parent's until it gives itself one.
void read_threads(MachineFiles& files, std::vector<ThreadTimes>& into) {
  for (const std::string& id : files.names("/proc/self/task")) {
    if (into.size() == kMostThreads) break;
    const std::string folder = "/proc/self/task/" + id;
    std::string_view text = files.text(folder + "/schedstat").value_or("");
    const std::optional<std::uint64_t> cpu_ns = leading_number(take_word(text));
    const std::optional<std::uint64_t> wait_ns = leading_number(take_word(text));
    if (!cpu_ns || !wait_ns) continue;  // ended meanwhile
    ThreadTimes times{.id = static_cast<std::uint32_t>(leading_number(id).value_or(0)),
                      .cpu_ns = *cpu_ns,
                      .wait_ns = *wait_ns};
    std::string_view name = files.text(folder + "/comm").value_or("");
    if (!name.empty()) name = take_line(name).substr(0, times.name.size() - 1);
    std::copy(name.begin(), name.end(), times.name.begin());
    into.push_back(times);
  }
  std::sort(into.begin(), into.end(),
            [](const ThreadTimes& a, const ThreadTimes& b) { return a.id < b.id; });
}

}  // namespace

std::vector<unsigned> cores_of_list(std::string_view list) {
  std::vector<unsigned> cores;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    unsigned first = 0;
    auto parsed = std::from_chars(at, end, first);
    if (parsed.ec != std::errc()) break;
    unsigned last = first;
    if (parsed.ptr != end && *parsed.ptr == '-')
      parsed = std::from_chars(parsed.ptr + 1, end, last);
    constexpr unsigned kMostCores = 1U << 16U;
    for (unsigned core = first; core <= std::min(last, kMostCores); ++core) cores.push_back(core);
    at = parsed.ptr;
    if (at == end || *at != ',') break;
    ++at;
  }
  return cores;
}

std::optional<double> pressure_s(MachineFiles& files, const std::string& resource) {
  const std::optional<std::string_view> text = files.text("/proc/pressure/" + resource);
  if (!text || !text->starts_with("some")) return std::nullopt;
  const std::size_t total = text->find("total=");
  if (total == text->npos) return std::nullopt;
  const std::optional<std::uint64_t> us = leading_number(text->substr(total + 6));
  return us ? std::optional(static_cast<double>(*us) * 1e-6) : std::nullopt;
}

CpuFiles::CpuFiles(MachineFiles& files) {
  constexpr std::string_view kKey = "Cpus_allowed_list:\t";
  const std::string_view text = files.text("/proc/self/status").value_or("");
  if (const std::size_t at = text.find(kKey); at != text.npos) {
    std::string_view rest = text.substr(at + kKey.size());
    allowed_ = cores_of_list(take_line(rest));
  }
  if (!allowed_.empty()) return;
  for (unsigned core = 0; core < num_given_cores(); ++core) allowed_.push_back(core);
}

void CpuFiles::read_own(MachineFiles& files, MachineSample& into) {
  std::string_view rest = files.text("/proc/self/stat").value_or("");
  // The name in brackets may hold anything; the fields after it are counted from 3.
  const std::size_t name_end = rest.rfind(')');
  if (name_end == rest.npos) return;
  rest.remove_prefix(name_end + 1);
  constexpr std::size_t kMinor = 10, kMajor = 12, kUser = 14, kSystem = 15;
  double ticks = 0;
  for (std::size_t field = 3; field <= kSystem; ++field) {
    const std::optional<std::uint64_t> value = leading_number(take_word(rest));
    if (field == kMinor) into.num_minor_faults = value;
    if (field == kMajor) into.num_major_faults = value;
    if (field >= kUser) ticks += static_cast<double>(value.value_or(0));
    if (field == kSystem && value) into.own_cpu_s = ticks * tick_s();
  }
}

void CpuFiles::read_cores(MachineFiles& files, CpuCounters& into) const {
  CoreTicks all, allowed;
  const auto add = [](CoreTicks& sum, const CoreTicks& each) {
    sum.busy += each.busy;
    sum.steal += each.steal;
    sum.total += each.total;
  };
  std::string_view rest = files.text("/proc/stat").value_or("");
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    if (!line.starts_with("cpu")) break;
    const std::optional<std::uint64_t> core = leading_number(take_word(line).substr(3));
    if (!core) continue;  // the sum of all
    const CoreTicks ticks = core_ticks(line);
    add(all, ticks);
    if (std::binary_search(allowed_.begin(), allowed_.end(), *core)) add(allowed, ticks);
  }
  if (all.total == 0) return;
  into.busy_s = static_cast<double>(all.busy) * tick_s();
  if (allowed.total == 0) return;
  into.allowed_busy_s = static_cast<double>(allowed.busy) * tick_s();
  into.allowed_steal_s = static_cast<double>(allowed.steal) * tick_s();
  into.allowed_total_s = static_cast<double>(allowed.total) * tick_s();
}

// The group that has the quota counts the stops.
void CpuFiles::read_quota(MachineFiles& files, CpuCounters& into) {
  const std::optional<CgroupQuota> quota = cgroup_quota(files.root());
  if (!quota) return;
  into.quota_cores = quota->cores;
  const std::string group = quota->folder.substr(files.root().size());
  const std::string_view text = files.text(group + "/cpu.stat").value_or("");
  into.num_periods = number_after(text, "nr_periods");
  into.num_throttled = number_after(text, "nr_throttled");
}

CpuCounters CpuFiles::read(MachineFiles& files) const {
  CpuCounters counters;
  read_cores(files, counters);
  read_quota(files, counters);
  read_threads(files, counters.threads);
  counters.pressure_s = pressure_s(files, "cpu");
  return counters;
}

}  // namespace stoker::observe
