#include "stoker/observe/utilization_log.h"

#include "stoker/base/clock.h"

namespace stoker::observe {

UtilizationLog::UtilizationLog(int device)
    : nvml_(cuda::Nvml::open()), thread_("gpu-use", [this, device](const std::stop_token& stop) {
        watch(static_cast<unsigned>(device), stop);
      }) {}

std::vector<double> UtilizationLog::finish() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  const Lock lock(mutex_);
  return percent_;
}

void UtilizationLog::watch(unsigned device, const std::stop_token& stop) {
  Lock lock(mutex_);
  while (nvml_ != nullptr) {
    const Deadline next = Deadline::after(system_clock(), std::chrono::seconds(1));
    WaitEnd end = WaitEnd::kNotified;
    while (end == WaitEnd::kNotified) end = changed_.wait_until(lock, stop, next);
    if (end == WaitEnd::kStopped) return;
    const cuda::GpuSample sample = nvml_->sample(device);
    if (sample.utilization_percent) percent_.push_back(*sample.utilization_percent);
  }
}

}  // namespace stoker::observe
