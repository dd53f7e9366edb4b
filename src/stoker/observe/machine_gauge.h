// How busy the machine is, one reading at a time: processor, memory and GPU. A seam, so that tests
// can say what a busy machine is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "stoker/base/clock.h"

namespace stoker::observe {

struct MachineReading {
  double cpu_percent = 0;          // of all cores of the machine, since the reading before
  double process_cpu_percent = 0;  // of the cores that this process may use
  double memory_percent = 0;       // of the machine's memory, what is not available
  std::optional<double> gpu_percent{};
  std::optional<std::uint64_t> gpu_memory_used_bytes{};
  std::optional<std::uint64_t> gpu_memory_total_bytes{};
};

// One thread at a time.
class MachineGauge {
 public:
  virtual ~MachineGauge() = default;
  virtual MachineReading read() = 0;
};

// Reads /proc and the driver's library. `gpu` counts as nvidia-smi does; without it its fields are
// absent.
std::unique_ptr<MachineGauge> open_machine_gauge(const Clock& clock, unsigned gpu);

}  // namespace stoker::observe
