// How many cores this process may really use: affinity and container quota, not what the machine
// has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoker {

struct CpuCount {
  unsigned online = 1;             // cores of the machine
  unsigned by_affinity = 1;        // that the system may run this thread on
  std::optional<double> by_quota;  // cgroup CPU quota in cores; absent = no limit
  unsigned allowed = 1;            // what to start workers for: at least 1
};

CpuCount count_cpus();

// by_affinity alone, without a look at files.
unsigned num_given_cores() noexcept;

// Threads to start beside one that must not be kept waiting: on many cores one is left to it, on a
// few its short work is not worth a core.
constexpr unsigned workers_beside_consumer(unsigned num_cores) {
  constexpr unsigned kFewCores = 4;
  return num_cores > kFewCores ? num_cores - 1 : num_cores;
}

// The smallest quota on the way from the process's control group to the top, and the group that
// has it. For tests: `root` replaces "/", holding proc/self/cgroup and sys/fs/cgroup.
struct CgroupQuota {
  double cores = 0;
  std::string folder{};  // with `root`
};
std::optional<CgroupQuota> cgroup_quota(const std::string& root);
std::optional<double> cgroup_quota_cores(const std::string& root);

}  // namespace stoker
