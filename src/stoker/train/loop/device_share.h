// How much of a device's memory a run may take, and what others have of it.
#pragma once

#include <cstdint>

#include "stoker/config/settings.h"
#include "stoker/cuda/device_api.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/loop/run_feeds.h"
#include "stoker/train/loop/training_run.h"

namespace stoker::train {

// Of the device that the model is on; all is 0 on a CPU.
class DeviceShare {
 public:
  DeviceShare(const config::Settings& settings, Device device, const TrainingHooks& hooks);

  // training.max_memory_fraction and gpu.model_gpu_memory.
  std::uint64_t max_bytes() const { return max_bytes_; }
  // By whomever, now.
  std::uint64_t used_bytes() const;
  // What is used now and neither the learner's nor of `known_bytes`: libraries load their kernels
  // when they are first called, and recorded steps take memory of the driver's.
  std::uint64_t bytes_beside(const Learner& learner, std::uint64_t known_bytes) const;
  // The learner may have what others leave of the share now.
  void bound(Learner& learner) const;

 private:
  cuda::DeviceApi* api_ = nullptr;
  Device device_;
  std::uint64_t max_bytes_ = 0;
};

// What the feeds of a run have of the device that the model is on.
std::uint64_t feed_bytes(const RunFeeds& feeds);

}  // namespace stoker::train
