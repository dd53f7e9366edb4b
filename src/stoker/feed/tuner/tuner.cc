#include "stoker/feed/tuner/tuner.h"

#include <algorithm>
#include <new>
#include <utility>

#include "stoker/base/log.h"

namespace stoker::feed {
namespace {

constexpr unsigned kCalmWindows = 64;
constexpr unsigned kLongest = 16;
// The log is begun anew here: about a megabyte, days of calm running.
constexpr std::size_t kMostEntries = 16'384;

double to_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// Busy is what this process uses of its share, or what all processes use of the machine: a core
// that a neighbour has taken is not free.
double busy_share(const TunerCounts& before, const TunerCounts& now, const TunerOptions& options,
                  double seconds) {
  const double own = (now.cpu_s - before.cpu_s) / seconds / options.num_cores;
  const double idle = (now.idle_s - before.idle_s) / seconds / options.num_online_cores;
  return std::clamp(std::max(own, 1 - idle), 0.0, 1.0);
}

}  // namespace

Tuner::Tuner(TunerTarget target, const TunerOptions& options)
    : target_(std::move(target)),
      options_(options),
      policy_(options.start, options.limits),
      log_{options.start, options.limits, {}} {
  {
    const Lock lock(mutex_);
    before_ = target_.count();
    looked_at_ = options_.clock->now();
  }
  thread_ = Thread("stoker-tune", [this](const std::stop_token& stop) { run(stop); });
}

Tuner::~Tuner() = default;

TunerLog Tuner::log() const {
  const Lock lock(mutex_);
  return log_;
}

std::chrono::nanoseconds Tuner::window_now() const {
  return options_.window * std::clamp(num_calm_ / kCalmWindows, 1U, kLongest);
}

// What cannot be done, such as starting another worker, ends the tuning and not the process.
void Tuner::run(const std::stop_token& stop) noexcept {
  try {
    watch(stop);
  } catch (const std::bad_alloc&) {  // and no words about it: they take memory
  } catch (const std::exception& failure) {
    stoker::log(LogLevel::kWarning, "the tuner ends; workers, depth and read-ahead stay",
                {{"why", failure.what()}});
  }
}

void Tuner::watch(const std::stop_token& stop) {
  Lock lock(mutex_);
  while (!stop.stop_requested()) {
    const std::chrono::nanoseconds until = looked_at_ + window_now();
    if (options_.clock->now() < until) {
      wake_.wait_until(lock, stop, {options_.clock, until});
      continue;
    }
    look(options_.clock->now());
  }
}

void Tuner::begin_log() {
  policy_ = TunerPolicy(policy_.knobs(), options_.limits);
  log_ = {policy_.knobs(), options_.limits, {}};
}

void Tuner::look(std::chrono::nanoseconds now) {
  const TunerCounts counts = target_.count();
  const double seconds = to_seconds(now - looked_at_);
  const auto share_of = [&](double TunerCounts::*sum) {
    return std::clamp((counts.*sum - before_.*sum) / seconds, 0.0, 1.0);
  };
  const TunerSample sample{
      .seconds = seconds,
      .num_batches = counts.num_batches - before_.num_batches,
      .stall_share = share_of(&TunerCounts::consumer_wait_s),
      .cpu_share = busy_share(before_, counts, options_, seconds),
      .buffer_stall_share = share_of(&TunerCounts::buffer_wait_s),
      .slack_share = std::max(share_of(&TunerCounts::slack_s), counts.slack_now)};
  looked_at_ = now;
  before_ = counts;
  if (sample.num_batches == 0) return;
  if (log_.entries.size() == kMostEntries) begin_log();
  std::optional<TunerMove> move = policy_.decide(sample);
  num_calm_ = move ? 0 : std::min(num_calm_ + 1, kCalmWindows * kLongest);
  log_.entries.push_back({sample, move});
  if (!move) return;
  target_.apply(policy_.knobs());
  stoker::log(LogLevel::kDebug, "tuner: " + move->reason,
              {{"knob", kTunerKnobNames[static_cast<std::size_t>(move->knob)]},
               {"from", move->from},
               {"to", move->to}});
}

}  // namespace stoker::feed
