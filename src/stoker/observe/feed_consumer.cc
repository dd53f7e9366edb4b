#include "stoker/observe/feed_consumer.h"

#include <time.h>

#include <algorithm>
#include <optional>

#include "stoker/base/clock.h"
#include "stoker/base/cpu_count.h"
#include "stoker/base/machine_figures.h"
#include "stoker/observe/prompt_wakeups.h"

namespace stoker::observe {
namespace {

// A sleeping thread wakes up late by about this much; the rest of a step is spent awake.
constexpr double kLatenessS = 150e-6;

double now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// On many cores a feed leaves one to its consumer. There the stand-in stays awake, as the thread of
// a trainer that waits for its GPU does: a core that slept may come back milliseconds late.
bool has_own_core() {
  const unsigned num_cores = count_cpus().allowed;
  return workers_beside_consumer(num_cores) < num_cores;
}

enum class Waiting { kAsleep, kAwake };

// What a trainer does with a batch: nothing that this processor sees.
void pass_step(double until_s, Waiting waiting) {
  const double sleep_until_s = until_s - kLatenessS;
  if (waiting == Waiting::kAsleep && sleep_until_s > now_s()) {
    timespec at{};
    at.tv_sec = static_cast<time_t>(sleep_until_s);
    at.tv_nsec = static_cast<long>((sleep_until_s - static_cast<double>(at.tv_sec)) * 1e9);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
  }
  while (now_s() < until_s) {
  }
}

// One run; times are read as little as possible, since a step may be a tenth of a millisecond.
class Run {
 public:
  Run(BatchSource& source, const ConsumerOptions& options) : source_(source), options_(options) {}

  void warm_up() {
    const Stopwatch watch;
    std::uint64_t taken = 0;
    while (watch.seconds() < options_.warm_s || taken < options_.warm_batches) {
      const std::optional<TakenBatch> batch = source_.take(options_.stop);
      if (!batch) return;
      step(*batch, now_s());
      ++taken;
    }
  }

  ConsumerReport measure() {
    report_.intervals_s.reserve(expected_batches());
    step_cpu_s_ = 0;
    const double cpu_before = process_cpu_s();
    const double start_s = now_s();
    double last_s = 0;
    bool follows_end = false;
    while (report_.num_batches < options_.max_batches) {
      const double asked_s = now_s();
      if (asked_s - start_s >= options_.seconds) break;
      const std::optional<TakenBatch> batch = source_.take(options_.stop);
      if (!batch) break;
      const double got_s = now_s();
      report_.wait_s += got_s - asked_s;
      if (report_.num_batches > 0) {
        if (follows_end) report_.epoch_ends.push_back(report_.intervals_s.size());
        report_.intervals_s.push_back(got_s - last_s);
      }
      follows_end = batch->is_last_of_epoch;
      last_s = got_s;
      count(*batch);
      step(*batch, got_s);
    }
    report_.wall_s = now_s() - start_s;
    report_.cpu_s = process_cpu_s() - cpu_before - step_cpu_s_;
    return std::move(report_);
  }

 private:
  std::size_t expected_batches() const {
    constexpr double kFastestS = 1e-4;
    const double most = options_.seconds / std::max(options_.step_s, kFastestS) + 1;
    return static_cast<std::size_t>(std::min(most, 1e6));
  }
  void count(const TakenBatch& batch) {
    ++report_.num_batches;
    report_.num_clips += batch.num_clips;
    report_.true_frames += batch.true_frames;
    report_.all_frames += batch.all_frames;
  }
  // Reading the batch belongs to the step: memory that is slow to come makes it longer.
  void step(const TakenBatch& batch, double got_s) {
    if (options_.step_s <= 0) return touch_rows(batch);
    const double cpu_before = thread_cpu_s();
    touch_rows(batch);
    pass_step(got_s + options_.step_s, waiting_);
    step_cpu_s_ += thread_cpu_s() - cpu_before;
  }

  BatchSource& source_;
  const ConsumerOptions& options_;
  ConsumerReport report_;
  double step_cpu_s_ = 0;
  const Waiting waiting_ = has_own_core() ? Waiting::kAwake : Waiting::kAsleep;
};

}  // namespace

ConsumerReport run_consumer(BatchSource& source, const ConsumerOptions& options) {
  std::optional<PromptWakeups> prompt;
  if (options.step_s > 0) prompt.emplace();
  Run run(source, options);
  run.warm_up();
  return run.measure();
}

}  // namespace stoker::observe
