#include "stoker/train/loop/watch/run_metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace stoker::train {

RunMetrics::RunMetrics(const config::Settings& settings, const TrainingHooks& hooks,
                       const feed::Feed& feed) {
  const config::ObserveSettings& observe = settings.observe;
  if (observe.metrics.empty()) return;
  observe::LiveSourceOptions options;
  options.gpus = observe::open_gpu_gauges({});
  options.feed.reader = feed.records();
  if (!options.feed.reader) options.feed.pid = ::getpid();  // says that it keeps no records
  options.disk_path = settings.data.path;
  options.fallbacks = [&feed] { return feed.stats().fallbacks; };
  sampler_.emplace(
      std::move(options),
      std::chrono::nanoseconds(static_cast<std::int64_t>(observe.sample_interval_s * 1e9)));
  server_.emplace(observe::MetricsServerOptions{.address = observe.metrics,
                                                .allows_remote = observe.metrics_remote},
                  [this] { return sampler_->latest(); });
  tell_line(hooks, fmt::format("serving {0} and {0}metrics", server_->url()));
  if (server_->is_remote())
    tell_warning(hooks,
                 "other machines can read these figures: there is neither password nor "
                 "encryption");
}

}  // namespace stoker::train
