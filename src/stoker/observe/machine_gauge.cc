#include "stoker/observe/machine_gauge.h"

#include <unistd.h>

#include <algorithm>

#include "stoker/base/cpu_count.h"
#include "stoker/base/machine_figures.h"
#include "stoker/cuda/nvml.h"

namespace stoker::observe {
namespace {

double percent(double part, double whole) {
  return whole > 0 ? std::clamp(100 * part / whole, 0.0, 100.0) : 0.0;
}

class SystemGauge final : public MachineGauge {
 public:
  SystemGauge(const Clock& clock, unsigned gpu)
      : clock_(clock), gpu_(gpu), cpus_(count_cpus()), nvml_(cuda::Nvml::open()) {
    if (nvml_ != nullptr && gpu_ >= nvml_->num_devices()) nvml_ = nullptr;
  }

  MachineReading read() override {
    const std::chrono::nanoseconds now = clock_.now();
    const double idle_s = machine_idle_s(), process_s = process_cpu_s();
    const double passed_s = std::chrono::duration<double>(now - at_).count();
    const double all_cores_s = passed_s * cpus_.online;
    MachineReading reading{
        .cpu_percent = percent(all_cores_s - (idle_s - idle_s_), all_cores_s),
        .process_cpu_percent = percent(process_s - process_s_, passed_s * cpus_.allowed),
        .memory_percent = memory_percent()};
    at_ = now;
    idle_s_ = idle_s;
    process_s_ = process_s;
    if (nvml_ == nullptr) return reading;
    const cuda::GpuSample gpu = nvml_->sample(gpu_);
    if (gpu.utilization_percent) reading.gpu_percent = *gpu.utilization_percent;
    reading.gpu_memory_used_bytes = gpu.memory_used_bytes;
    reading.gpu_memory_total_bytes = gpu.memory_total_bytes;
    return reading;
  }

 private:
  static double memory_percent() {
    const double total =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return percent(total - static_cast<double>(available_memory_bytes()), total);
  }

  const Clock& clock_;
  unsigned gpu_;
  CpuCount cpus_;
  std::unique_ptr<cuda::Nvml> nvml_;
  std::chrono::nanoseconds at_ = clock_.now();
  double idle_s_ = machine_idle_s();
  double process_s_ = process_cpu_s();
};

}  // namespace

std::unique_ptr<MachineGauge> open_machine_gauge(const Clock& clock, unsigned gpu) {
  return std::make_unique<SystemGauge>(clock, gpu);
}

}  // namespace stoker::observe
