#include "stoker/observe/feed_consumer.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "stoker/base/clock.h"
#include "stoker/base/cpu_count.h"
#include "stoker/base/machine_figures.h"

namespace stoker::observe {
namespace {

constexpr std::uint64_t kShortestSliceNs = 100'000;  // that Linux takes

// As the kernel reads it; its own header does not go together with <sched.h>.
struct SchedulingAttributes {
  std::uint32_t size_bytes = sizeof(SchedulingAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t slice_ns = 0;  // of a normal thread since Linux 6.12; 0: the usual one
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

void set_slice(std::uint64_t slice_ns) noexcept {
  SchedulingAttributes own;
  if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0 || own.policy != SCHED_OTHER) return;
  own.slice_ns = slice_ns;
  syscall(SYS_sched_setattr, 0, &own, 0);
}

// A sleeping thread wakes up late by about this much; the rest of a step is spent awake.
constexpr double kLatenessS = 150e-6;

// On many cores a feed leaves one to its consumer. There the stand-in stays awake, as the thread of
// a trainer that waits for its GPU does: a core that slept may come back milliseconds late.
bool has_own_core() {
  const unsigned num_cores = count_cpus().allowed;
  return workers_beside_consumer(num_cores) < num_cores;
}

double seconds_of(const Clock& clock) { return std::chrono::duration<double>(clock.now()).count(); }

// One run; times are read as little as possible, since a step may be a tenth of a millisecond.
class Run {
 public:
  Run(BatchSource& source, const ConsumerOptions& options) : source_(source), options_(options) {
    if (options.step_s > 0) pacer_.emplace(*options.clock);
  }

  void warm_up() {
    const Stopwatch watch(*options_.clock);
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
      report_ += *batch;
      step(*batch, got_s);
    }
    report_.wall_s = now_s() - start_s;
    report_.cpu_s = process_cpu_s() - cpu_before - step_cpu_s_;
    return std::move(report_);
  }

 private:
  double now_s() const { return seconds_of(*options_.clock); }
  std::size_t expected_batches() const {
    constexpr double kFastestS = 1e-4;
    const double most = options_.seconds / std::max(options_.step_s, kFastestS) + 1;
    return static_cast<std::size_t>(std::min(most, 1e6));
  }
  // Reading the batch belongs to the step: memory that is slow to come makes it longer.
  void step(const TakenBatch& batch, double got_s) {
    if (options_.step_s <= 0) return touch_rows(batch);
    const double cpu_before = thread_cpu_s();
    touch_rows(batch);
    pacer_->pass_until(got_s + options_.step_s);
    step_cpu_s_ += thread_cpu_s() - cpu_before;
  }

  BatchSource& source_;
  const ConsumerOptions& options_;
  ConsumerReport report_;
  double step_cpu_s_ = 0;
  std::optional<StepPacer> pacer_;
};

}  // namespace

// Sleeps of this thread are timed to the nanosecond and it asks for a short slice of the processor,
// with which Linux lets it interrupt threads of longer ones. Rights are not needed; where the
// kernel knows neither, nothing happens.
StepPacer::StepPacer(const Clock& clock)
    : clock_(clock),
      slack_before_ns_(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)),
      stays_awake_(has_own_core()) {
  prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
  set_slice(kShortestSliceNs);
}

StepPacer::~StepPacer() {
  if (slack_before_ns_ > 0)
    prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_before_ns_), 0, 0, 0);
  set_slice(0);
}

double StepPacer::now_s() const { return seconds_of(clock_); }

// What a trainer does with a batch: nothing that this processor sees.
void StepPacer::pass_until(double until_s) const {
  const double sleep_until_s = until_s - kLatenessS;
  if (!stays_awake_ && sleep_until_s > now_s()) {
    timespec at{};
    at.tv_sec = static_cast<time_t>(sleep_until_s);
    at.tv_nsec = static_cast<long>((sleep_until_s - static_cast<double>(at.tv_sec)) * 1e9);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
  }
  while (now_s() < until_s) {
  }
}

ConsumerReport run_consumer(BatchSource& source, const ConsumerOptions& options) {
  Run run(source, options);
  run.warm_up();
  return run.measure();
}

}  // namespace stoker::observe
