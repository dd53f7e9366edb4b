// Cores and threads as the kernel's files tell them: who ran where, who waited, and what a quota
// stopped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/observe/machine/machine_files.h"
#include "stoker/observe/machine/machine_sample.h"

namespace stoker::observe {

// "0-3,8" -> {0, 1, 2, 3, 8}; what is no list of numbers is left out.
std::vector<unsigned> cores_of_list(std::string_view list);

// Microseconds of "some", in seconds; "cpu", "memory" or "io". Absent on kernels without it.
std::optional<double> pressure_s(MachineFiles& files, const std::string& resource);

class CpuFiles {
 public:
  explicit CpuFiles(MachineFiles& files);
  const std::vector<unsigned>& allowed() const { return allowed_; }
  // Of this process: processor time and page faults.
  static void read_own(MachineFiles& files, MachineSample& into);
  CpuCounters read(MachineFiles& files) const;

 private:
  void read_cores(MachineFiles& files, CpuCounters& into) const;
  static void read_quota(MachineFiles& files, CpuCounters& into);

  std::vector<unsigned> allowed_;  // sorted
};

}  // namespace stoker::observe
