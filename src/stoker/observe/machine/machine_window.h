// What the machine did between two moments, beside what the process itself did: the figures that
// tell a busy neighbour, a quota, a slow disk or a throttled card from slow work of our own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"

namespace stoker::observe {

// What is not known (an old kernel, a container that hides it, a window too short for two readings)
// is absent, never 0. Rates are means over the window.

// One thread of this process; threads of one name are one line.
struct ThreadLoad {
  std::string name{};
  unsigned num_threads = 0;
  double cpu_cores = 0;       // processor time per second
  double run_queue_wait = 0;  // ready to run without a core, seconds per second
};

struct CpuWindow {
  unsigned num_allowed_cores = 1;       // by affinity
  std::optional<double> quota_cores{};  // of the control group; absent: no limit
  std::optional<double> busy_cores{};   // by everybody, on all cores of the machine
  std::optional<double> own_cores{};
  std::optional<double> other_cores{};      // by others, on the cores that this process may use
  std::optional<double> steal_share{};      // of those cores' time, taken by the hypervisor
  std::optional<double> run_queue_wait{};   // sum over `threads`
  std::vector<ThreadLoad> threads{};        // those that waited longest first
  std::optional<double> throttled_share{};  // of the quota's periods, those that ended in a stop
  std::optional<std::uint64_t> num_throttled{};
  std::optional<double> pressure{};  // share of the time in which some task waited for a core
};

struct MemoryWindow {
  std::optional<std::uint64_t> total_bytes{};
  std::optional<std::uint64_t> available_bytes{};  // least of the window
  std::optional<double> available_share{};     // of the total or of the group's limit, what is less
  std::optional<std::uint64_t> limit_bytes{};  // of the control group; absent: no limit
  std::optional<std::uint64_t> group_bytes{};  // used by the control group
  std::optional<double> minor_faults_per_s{};  // of this process
  std::optional<double> major_faults_per_s{};
  std::optional<double> swap_in_pages_per_s{};  // of the machine
  std::optional<double> swap_out_pages_per_s{};
  std::optional<double> pressure{};  // share of the time in which some task waited for memory
};

enum class StorageKind : std::uint8_t {
  kUnknown,
  kSolid,     // a local device without moving parts
  kRotating,  // a local disk
  kMemory,    // tmpfs, ramfs
  kNetwork,   // NFS, CIFS, 9P, Lustre, Ceph, …
  kFuse,      // a program serves the files
  kOverlay,   // layers of a container; what is below them is not known
};
std::string_view name_of(StorageKind kind);  // "solid", "rotating", …

struct StorageWindow {
  StorageKind kind = StorageKind::kUnknown;
  std::string file_system{};                        // "ext4", "nfs", or its number
  std::string device{};                             // "nvme0n1"; empty: none below the files
  std::optional<double> own_read_bytes_per_s{};     // that storage delivered to this process
  std::optional<double> own_asked_bytes_per_s{};    // by read calls, page cache or not
  std::optional<double> device_read_bytes_per_s{};  // to everybody
  std::optional<double> device_busy_share{};
  std::optional<double> device_read_ms{};    // mean time of a read; absent: there was none
  std::optional<double> device_queue{};      // mean number of requests in flight
  std::optional<double> page_cache_share{};  // of a sample of the data's bytes, those in memory
  std::optional<double> pressure{};          // share of the time in which some task waited for I/O
};

struct GpuWindow {
  std::string uuid{};                                // "GPU-8f…"; of a slice: "MIG-…"
  std::optional<double> utilization_percent{};       // of the time with a kernel running; of a MIG
                                                     // slice it is not known
  std::optional<std::uint64_t> memory_used_bytes{};  // most of the window
  std::optional<std::uint64_t> memory_total_bytes{};
  std::optional<double> power_w{};
  std::optional<double> power_limit_w{};
  std::optional<double> clock_mhz{};         // of the multiprocessors
  std::optional<double> max_clock_mhz{};     // the card's own limit
  std::optional<double> pcie_rx_mb_per_s{};  // into the card
  std::optional<double> pcie_tx_mb_per_s{};
  std::optional<unsigned> pcie_generation{};
  std::optional<unsigned> pcie_width{};
  std::optional<unsigned> max_pcie_generation{};
  std::optional<unsigned> max_pcie_width{};
  std::optional<unsigned> temperature_c{};          // highest of the window
  std::optional<std::uint64_t> throttle_reasons{};  // NVML's bits, all that were seen
  std::optional<double> throttled_share{};          // of the samples, held down by heat or power
  std::optional<unsigned> num_other_processes{};    // most of the window
};

struct MachineWindow {
  double wall_s = 0;
  unsigned num_samples = 0;
  CpuWindow cpu{};
  MemoryWindow memory{};
  StorageWindow storage{};
  std::optional<GpuWindow> gpu{};
  std::string why_no_gpu{};  // where `gpu` is absent

  // cpu{…}, memory{…}, storage{…}, gpu{…} with the names above; null what is not known.
  Json json() const;
};

}  // namespace stoker::observe
