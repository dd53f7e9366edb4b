// What was read of the machine at one moment: counters since some beginning, whose differences a
// window is made of.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/cuda/nvml.h"

namespace stoker::observe {

struct ThreadTimes {
  std::uint32_t id = 0;
  std::array<char, 16> name{};  // ends with 0
  std::uint64_t cpu_ns = 0;
  std::uint64_t wait_ns = 0;  // in the queue of a core
};

struct CpuCounters {
  std::optional<double> busy_s{};          // all cores of the machine
  std::optional<double> allowed_busy_s{};  // the cores that this process may use
  std::optional<double> allowed_steal_s{};
  std::optional<double> allowed_total_s{};  // with idle time
  std::vector<ThreadTimes> threads{};       // in the order of their ids
  std::optional<double> quota_cores{};
  std::optional<std::uint64_t> num_periods{};
  std::optional<std::uint64_t> num_throttled{};
  std::optional<double> pressure_s{};
};

struct MemoryCounters {
  std::optional<std::uint64_t> total_bytes{};
  std::optional<std::uint64_t> limit_bytes{};
  std::optional<std::uint64_t> group_bytes{};
  std::optional<std::uint64_t> swap_in_pages{};
  std::optional<std::uint64_t> swap_out_pages{};
  std::optional<double> pressure_s{};
};

struct DiskCounters {
  std::uint64_t num_reads = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t reading_ms = 0;
  std::uint64_t busy_ms = 0;
  std::uint64_t queued_ms = 0;  // summed over requests
};

struct StorageCounters {
  std::optional<std::uint64_t> read_bytes{};   // by this process, from storage
  std::optional<std::uint64_t> asked_bytes{};  // by its read calls
  std::optional<DiskCounters> disk{};
  std::optional<double> page_cache_share{};
  std::optional<double> pressure_s{};
};

// What costs more than a few microseconds to read.
struct DearSample {
  CpuCounters cpu{};
  MemoryCounters memory{};
  StorageCounters storage{};
  std::optional<cuda::GpuLink> link{};
};

struct MachineSample {
  std::chrono::nanoseconds at{};
  std::optional<double> own_cpu_s{};
  std::optional<std::uint64_t> num_minor_faults{};
  std::optional<std::uint64_t> num_major_faults{};
  std::optional<std::uint64_t> available_bytes{};
  std::optional<cuda::GpuSample> gpu{};
  std::unique_ptr<const DearSample> dear{};  // of every tenth or so
};

}  // namespace stoker::observe
