// The endpoint of a training: what `stoker monitor --http` serves, of the training's own feed and
// with its fallbacks.
#pragma once

#include <optional>

#include "stoker/config/settings.h"
#include "stoker/observe/http/metrics_server.h"
#include "stoker/observe/live/live_sampler.h"
#include "stoker/train/loop/run_start.h"

namespace stoker::train {

// Serves while it lives, where observe.metrics names an address; says where. Throws E-HTTP-….
// The feed must outlive it. Its steps never wait for it: a thread looks once per
// observe.sample_interval, and requests are answered from what it saw.
class RunMetrics {
 public:
  RunMetrics(const config::Settings& settings, const TrainingHooks& hooks, const feed::Feed& feed);

 private:
  std::optional<observe::LiveSampler> sampler_;
  std::optional<observe::MetricsServer> server_;  // last: asks the sampler
};

}  // namespace stoker::train
