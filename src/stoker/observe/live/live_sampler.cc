#include "stoker/observe/live/live_sampler.h"

#include <algorithm>
#include <utility>

namespace stoker::observe {

LiveSampler::LiveSampler(LiveSourceOptions options, std::chrono::nanoseconds every)
    : every_(every), clock_(options.clock), source_(std::move(options)) {
  publish(source_.look());
  thread_ = Thread("live-sampler", [this](const std::stop_token& stop) { watch(stop); });
}

LiveSampler::~LiveSampler() = default;

FiguresPtr LiveSampler::latest() const {
  const Lock lock(mutex_);
  return latest_;
}

FiguresPtr LiveSampler::wait_newer(std::uint64_t seen, const std::stop_token& stop,
                                   std::chrono::nanoseconds at_most) {
  const Deadline deadline = Deadline::after(system_clock(), at_most);
  Lock lock(mutex_);
  while (latest_->number <= seen)
    if (changed_.wait_until(lock, stop, deadline) != WaitEnd::kNotified) break;
  return latest_;
}

void LiveSampler::publish(LiveFigures figures) {
  auto next = std::make_shared<const LiveFigures>(std::move(figures));
  const Lock lock(mutex_);
  latest_.swap(next);
  changed_.notify_all();
}

// A look that takes longer than the interval leaves the ones that it missed out. A look for which
// there is no memory is left out, too.
void LiveSampler::watch(const std::stop_token& stop) {
  std::chrono::nanoseconds next = clock_->now();
  while (true) {
    next = std::max(next + every_, clock_->now());
    {
      Lock lock(mutex_);
      WaitEnd end = WaitEnd::kNotified;
      while (end == WaitEnd::kNotified) end = changed_.wait_until(lock, stop, {clock_, next});
      if (end == WaitEnd::kStopped) return;
    }
    try {
      publish(source_.look());
    } catch (const std::exception&) {
      continue;
    }
  }
}

}  // namespace stoker::observe
