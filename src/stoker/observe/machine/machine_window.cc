#include "stoker/observe/machine/machine_window.h"

#include <array>

#include "stoker/cuda/nvml.h"

namespace stoker::observe {
namespace {

Json json_of(const CpuWindow& cpu) {
  Json threads = Json::array();
  for (const ThreadLoad& load : cpu.threads)
    threads.push_back(Json{{"name", load.name},
                           {"num_threads", load.num_threads},
                           {"cpu_cores", load.cpu_cores},
                           {"run_queue_wait", load.run_queue_wait}});
  return Json{{"num_allowed_cores", cpu.num_allowed_cores},
              {"quota_cores", cpu.quota_cores},
              {"busy_cores", cpu.busy_cores},
              {"own_cores", cpu.own_cores},
              {"other_cores", cpu.other_cores},
              {"steal_share", cpu.steal_share},
              {"run_queue_wait", cpu.run_queue_wait},
              {"threads", threads},
              {"throttled_share", cpu.throttled_share},
              {"num_throttled", cpu.num_throttled},
              {"pressure", cpu.pressure}};
}

Json json_of(const MemoryWindow& memory) {
  return Json{{"total_bytes", memory.total_bytes},
              {"available_bytes", memory.available_bytes},
              {"available_share", memory.available_share},
              {"limit_bytes", memory.limit_bytes},
              {"group_bytes", memory.group_bytes},
              {"minor_faults_per_s", memory.minor_faults_per_s},
              {"major_faults_per_s", memory.major_faults_per_s},
              {"swap_in_pages_per_s", memory.swap_in_pages_per_s},
              {"swap_out_pages_per_s", memory.swap_out_pages_per_s},
              {"pressure", memory.pressure}};
}

Json json_of(const StorageWindow& storage) {
  return Json{{"kind", name_of(storage.kind)},
              {"file_system", storage.file_system},
              {"device", storage.device},
              {"own_read_bytes_per_s", storage.own_read_bytes_per_s},
              {"own_asked_bytes_per_s", storage.own_asked_bytes_per_s},
              {"device_read_bytes_per_s", storage.device_read_bytes_per_s},
              {"device_busy_share", storage.device_busy_share},
              {"device_read_ms", storage.device_read_ms},
              {"device_queue", storage.device_queue},
              {"page_cache_share", storage.page_cache_share},
              {"pressure", storage.pressure}};
}

Json json_of(const GpuWindow& gpu) {
  const Json throttle =
      gpu.throttle_reasons ? Json(cuda::throttle_text(*gpu.throttle_reasons)) : Json();
  return Json{{"uuid", gpu.uuid},
              {"utilization_percent", gpu.utilization_percent},
              {"memory_used_bytes", gpu.memory_used_bytes},
              {"memory_total_bytes", gpu.memory_total_bytes},
              {"power_w", gpu.power_w},
              {"power_limit_w", gpu.power_limit_w},
              {"clock_mhz", gpu.clock_mhz},
              {"max_clock_mhz", gpu.max_clock_mhz},
              {"pcie_rx_mb_per_s", gpu.pcie_rx_mb_per_s},
              {"pcie_tx_mb_per_s", gpu.pcie_tx_mb_per_s},
              {"pcie_generation", gpu.pcie_generation},
              {"pcie_width", gpu.pcie_width},
              {"max_pcie_generation", gpu.max_pcie_generation},
              {"max_pcie_width", gpu.max_pcie_width},
              {"temperature_c", gpu.temperature_c},
              {"throttle", throttle},
              {"throttled_share", gpu.throttled_share},
              {"num_other_processes", gpu.num_other_processes}};
}

}  // namespace

std::string_view name_of(StorageKind kind) {
  constexpr std::array<std::string_view, 7> kNames{"unknown", "solid", "rotating", "memory",
                                                   "network", "fuse",  "overlay"};
  return kNames.at(static_cast<std::size_t>(kind));
}

Json MachineWindow::json() const {
  return Json{{"wall_s", wall_s},
              {"num_samples", num_samples},
              {"cpu", json_of(cpu)},
              {"memory", json_of(memory)},
              {"storage", json_of(storage)},
              {"gpu", gpu ? json_of(*gpu) : Json()},
              {"why_no_gpu", why_no_gpu}};
}

}  // namespace stoker::observe
