#include "bench/diagnose/planted_device.h"

#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

namespace stoker::bench {
namespace {

constexpr std::size_t kStepsAhead = 2;
constexpr std::size_t kTinyBytes = 64;
constexpr std::size_t kCopyBytes = std::size_t{64} << 20U;

}  // namespace

PlantedDeviceConsumer::PlantedDeviceConsumer(const DevicePlan& plan, int device, double step_s)
    : plan_(plan),
      device_(device),
      stream_(device),
      scratch_(device, kTinyBytes),
      products_(device) {
  products_.fit_to(step_s, stream_);
}

void PlantedDeviceConsumer::launch() {
  if (plan_.num_tiny == 0) return products_.run(stream_, nullptr);
  for (std::uint64_t i = 0; i < plan_.num_tiny; ++i)
    cuda::system_device_api().fill_bytes(scratch_.data(), 0, kTinyBytes, stream_.view().handle());
}

void PlantedDeviceConsumer::step(feed::Batch batch, feed::Feed&) {
  batch.wait(stream_);
  launch();
  batch.release(stream_);
  if (plan_.pause_ms > 0) {
    stream_.synchronize();
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(plan_.pause_ms));
    return;
  }
  ahead_.emplace_back(device_, cuda::EventUse::kOrder).record(stream_);
  if (ahead_.size() <= kStepsAhead) return;
  ahead_.front().synchronize();
  ahead_.pop_front();
}

BusyBus::BusyBus(int device) : from_(kCopyBytes), to_(device, kCopyBytes), stream_(device) {
  thread_ = Thread("busy-bus", [this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      cuda::system_device_api().copy(
          {.to = to_.data(), .from = from_.data(), .size_bytes = kCopyBytes},
          stream_.view().handle());
      stream_.synchronize();
    }
  });
}

}  // namespace stoker::bench
