// What of the machine decides a feed's settings, measured: cores, memory, the storage of a folder
// cold and warm, and the GPU with its bus.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/base/cpu_count.h"
#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/cuda/device_probe.h"
#include "stoker/observe/machine/storage_facts.h"

namespace stoker::observe {

struct MemoryFacts {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;           // what this process may still get
  std::optional<std::uint64_t> limit_bytes{};  // of a control group or ulimit -v
  std::string limited_by{};                    // "a control group"; empty: the machine itself
};

struct MachineFacts {
  CpuCount cpus{};
  MemoryFacts memory{};
  StorageFacts storage{};
  cuda::DeviceProbe gpus{};
  std::optional<double> bus_gb_per_s{};  // page-locked host memory to the first GPU
};

// What a process may still take: of the machine, of its control group, of ulimit -v. `root`
// replaces "/" for tests.
MemoryFacts read_memory_facts(Io& io, const std::string& root = {});

Json machine_json(const MachineFacts& facts);

}  // namespace stoker::observe
