// From counters at moments to rates between two of them.
#pragma once

#include <chrono>
#include <deque>
#include <string>

#include "stoker/observe/machine/machine_sample.h"
#include "stoker/observe/machine/machine_window.h"

namespace stoker::observe {

// What does not change while a machine is watched.
struct MachineFacts {
  unsigned num_allowed_cores = 1;
  StorageKind storage = StorageKind::kUnknown;
  std::string file_system{};
  std::string device{};
  std::string gpu_uuid{};
  std::string why_no_gpu{};
};

// `samples` in the order of time. A counter that went backwards (a reset, a wrap, a device that was
// taken out and came back) gives no figure.
MachineWindow window_of_samples(const std::deque<MachineSample>& samples,
                                std::chrono::nanoseconds from, std::chrono::nanoseconds to,
                                const MachineFacts& facts);

}  // namespace stoker::observe
