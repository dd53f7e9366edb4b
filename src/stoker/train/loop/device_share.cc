#include "stoker/train/loop/device_share.h"

#include <algorithm>

namespace stoker::train {

DeviceShare::DeviceShare(const config::Settings& settings, Device device,
                         const TrainingHooks& hooks)
    : device_(device) {
  if (device.is_cpu()) return;
  api_ = hooks.devices ? hooks.devices->api : &cuda::system_device_api();
  const double share = settings.training.max_memory_fraction *
                       static_cast<double>(api_->room(device.index()).total_bytes);
  max_bytes_ = static_cast<std::uint64_t>(share);
  if (settings.gpu.model_gpu_memory)
    max_bytes_ = std::min(max_bytes_, settings.gpu.model_gpu_memory->count);
}

std::uint64_t DeviceShare::used_bytes() const {
  if (api_ == nullptr) return 0;
  const cuda::DeviceRoom room = api_->room(device_.index());
  return room.total_bytes - room.free_bytes;
}

std::uint64_t DeviceShare::bytes_beside(const Learner& learner, std::uint64_t known_bytes) const {
  const std::uint64_t used = used_bytes();
  const std::uint64_t known = learner.held_bytes() + known_bytes;
  return used - std::min(used, known);
}

void DeviceShare::bound(Learner& learner) const {
  const std::uint64_t others = bytes_beside(learner, 0);
  learner.bound_bytes(max_bytes_ - std::min(max_bytes_, others));
}

std::uint64_t feed_bytes(const RunFeeds& feeds) {
  const feed::ModeChoice& mode = feeds.train.mode.choice;
  if (mode.data_device != mode.model_device) return 0;
  std::uint64_t bytes = 0;
  for (const feed::Feed* feed :
       {&feeds.train.feed, feeds.evaluation ? &feeds.evaluation->feed : nullptr}) {
    if (feed == nullptr) continue;
    if (const auto budget = feed->stats().device) bytes += budget->total_bytes();
  }
  return bytes;
}

}  // namespace stoker::train
