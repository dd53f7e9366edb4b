// What one process does, as the kernel's files tell it: for the process whose feed is watched.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "stoker/observe/live/live_figures.h"
#include "stoker/observe/machine/machine_files.h"

namespace stoker::observe {

// One thread at a time.
class ProcessFiles {
 public:
  explicit ProcessFiles(MachineFiles files) : files_(std::move(files)) {}
  // Rates since the last call with the same process; nothing where it is gone.
  std::optional<LiveProcess> read(int pid, std::chrono::nanoseconds now);

 private:
  struct Counters {
    std::optional<double> cpu_s{};
    std::optional<std::uint64_t> read_bytes{};
  };
  MachineFiles files_;
  int last_pid_ = 0;
  std::chrono::nanoseconds last_at_{};
  Counters last_;
};

}  // namespace stoker::observe
