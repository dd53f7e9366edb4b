// Consumers on a GPU that lose time by themselves, and somebody else on its bus.
#pragma once

#include <deque>
#include <memory>

#include "bench/diagnose/plan.h"
#include "stoker/base/thread/sync.h"
#include "stoker/bench/gemm_step.h"
#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/event.h"
#include "stoker/cuda/pinned_buffer.h"
#include "stoker/cuda/stream.h"
#include "stoker/observe/diagnose/diagnose.h"

namespace stoker::bench {

// Steps are matrix products of the length given, launched two ahead; with `num_tiny` so many fills
// of a few bytes instead, with `pause_ms` the host waits for each step and then does something
// else.
class PlantedDeviceConsumer final : public observe::WatchedConsumer {
 public:
  PlantedDeviceConsumer(const DevicePlan& plan, int device, double step_s);
  ~PlantedDeviceConsumer() override { stream_.synchronize_quietly(); }
  void step(feed::Batch batch, feed::Feed& feed) override;
  void rest() override { stream_.synchronize(); }

 private:
  void launch();

  DevicePlan plan_;
  int device_;
  cuda::Stream stream_;
  cuda::DeviceBuffer scratch_;
  GemmStep products_;
  std::deque<cuda::Event> ahead_;
};

// Copies to the GPU as fast as the bus takes them, from construction to destruction.
class BusyBus {
 public:
  explicit BusyBus(int device);

 private:
  cuda::PinnedBuffer from_;
  cuda::DeviceBuffer to_;
  cuda::Stream stream_;
  Thread thread_;  // last: ends first
};

}  // namespace stoker::bench
