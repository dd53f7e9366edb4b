#include "stoker/base/cpu_count.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/io/io.h"

namespace stoker {
namespace {

std::optional<std::string> load_text(const std::string& path) {
  constexpr std::uint64_t kLimitBytes = 65'536;
  Result<File> file = open_file(system_io(), path, OpenFor::kRead);
  if (!file.ok()) return std::nullopt;
  Result<std::vector<std::byte>> bytes = read_whole(*file, kLimitBytes);
  if (!bytes.ok()) return std::nullopt;
  return std::string(view_text(*bytes));
}

std::optional<std::int64_t> parse_leading_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<double> cores_from(std::optional<std::int64_t> quota_us,
                                 std::optional<std::int64_t> period_us) {
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) return std::nullopt;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

// cgroup v2: "200000 100000", or "max 100000".
std::optional<double> quota_v2(const std::string& folder) {
  const std::optional<std::string> text = load_text(folder + "/cpu.max");
  if (!text || text->find(' ') == std::string::npos) return std::nullopt;
  return cores_from(parse_leading_number(*text),
                    parse_leading_number(std::string_view(*text).substr(text->find(' ') + 1)));
}

// cgroup v1: quota -1 means none.
std::optional<double> quota_v1(const std::string& folder) {
  const std::optional<std::string> quota = load_text(folder + "/cpu.cfs_quota_us");
  const std::optional<std::string> period = load_text(folder + "/cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  return cores_from(parse_leading_number(*quota), parse_leading_number(*period));
}

void take_smaller(std::optional<CgroupQuota>& best, std::optional<CgroupQuota> candidate) {
  if (candidate && (!best || candidate->cores < best->cores)) best = std::move(candidate);
}

using QuotaOf = std::optional<double> (*)(const std::string& folder);

// A limit set on any group above holds as well.
std::optional<CgroupQuota> smallest_up_the_tree(const std::string& mount, std::string group,
                                                QuotaOf quota_of) {
  std::optional<CgroupQuota> best;
  const auto look = [&](std::string folder) {
    if (const std::optional<double> cores = quota_of(folder))
      take_smaller(best, CgroupQuota{*cores, std::move(folder)});
  };
  while (!group.empty() && group != "/") {
    look(mount + group);
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
  look(mount);
  return best;
}

bool names_cpu_controller(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t end = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, end) == "cpu") return true;
    controllers.remove_prefix(std::min(end + 1, controllers.size()));
  }
  return false;
}

// One line of /proc/self/cgroup: "0::/group" (v2) or "4:cpu,cpuacct:/group" (v1).
std::optional<CgroupQuota> quota_of_line(const std::string& root, std::string_view line) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
  if (second == line.npos) return std::nullopt;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const std::string group(line.substr(second + 1));
  const std::string base = root + "/sys/fs/cgroup";
  std::optional<CgroupQuota> best;
  if (controllers.empty()) {
    take_smaller(best, smallest_up_the_tree(base, group, quota_v2));
    take_smaller(best, smallest_up_the_tree(base + "/unified", group, quota_v2));
  } else if (names_cpu_controller(controllers)) {
    take_smaller(best, smallest_up_the_tree(base + "/cpu", group, quota_v1));
    take_smaller(best, smallest_up_the_tree(base + "/cpu,cpuacct", group, quota_v1));
  }
  return best;
}

unsigned num_online_cores() noexcept {
  return static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

unsigned num_given_cores() noexcept {
  cpu_set_t given;
  CPU_ZERO(&given);
  if (sched_getaffinity(0, sizeof given, &given) != 0) return num_online_cores();
  return std::max(1U, static_cast<unsigned>(CPU_COUNT(&given)));
}

std::optional<CgroupQuota> cgroup_quota(const std::string& root) {
  const std::optional<std::string> groups = load_text(root + "/proc/self/cgroup");
  if (!groups) return std::nullopt;
  std::optional<CgroupQuota> best;
  std::string_view rest = *groups;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    take_smaller(best, quota_of_line(root, rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return best;
}

std::optional<double> cgroup_quota_cores(const std::string& root) {
  const std::optional<CgroupQuota> quota = cgroup_quota(root);
  return quota ? std::optional(quota->cores) : std::nullopt;
}

CpuCount count_cpus() {
  CpuCount count;
  count.online = num_online_cores();
  count.by_affinity = num_given_cores();
  count.by_quota = cgroup_quota_cores("");
  count.allowed = count.by_affinity;
  if (count.by_quota) {
    const auto whole = static_cast<unsigned>(std::ceil(std::min(*count.by_quota, 1e6)));
    count.allowed = std::clamp(whole, 1U, count.by_affinity);
  }
  return count;
}

}  // namespace stoker
