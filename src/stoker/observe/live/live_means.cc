#include "stoker/observe/live/live_means.h"

#include <optional>

#include "stoker/observe/live/live_text.h"

namespace stoker::observe {

void LiveMeans::add(const LiveFigures& figures) {
  ++num_samples_;
  busy_cores_.add(figures.machine.cpu.busy_cores);
  memory_share_.add(memory_share(figures.machine.memory));
  disk_read_.add(figures.machine.storage.device_read_bytes_per_s);
  for (const LiveGpu& gpu : figures.gpus) {
    GpuMeans& means = gpus_[gpu.index];
    means.utilization.add(gpu.now.utilization_percent);
    means.memory_used_bytes.add(gpu.now.memory_used_bytes);
    means.power_w.add(gpu.now.power_w);
    means.temp_c.add(gpu.now.temperature_c);
  }
  if (figures.feed.state != FeedState::kRunning) return;
  batches_per_s_.add(std::optional(figures.feed.batches_per_s));
  clips_per_s_.add(std::optional(figures.feed.clips_per_s));
  stall_share_.add(figures.feed.stall_share);
}

Json LiveMeans::json() const {
  Json cards = Json::array();
  for (const auto& [index, means] : gpus_)
    cards.push_back(Json{{"gpu_id", index},
                         {"utilization", means.utilization.value()},
                         {"memory_used_bytes", means.memory_used_bytes.value()},
                         {"power_w", means.power_w.value()},
                         {"temp_c", means.temp_c.value()}});
  return Json{{"cpu_busy_cores", busy_cores_.value()},
              {"memory_used_share", memory_share_.value()},
              {"disk_read_bytes_per_s", disk_read_.value()},
              {"gpus", std::move(cards)},
              {"feed",
               {{"batches_per_s", batches_per_s_.value()},
                {"clips_per_s", clips_per_s_.value()},
                {"stall_share", stall_share_.value()}}}};
}

}  // namespace stoker::observe
