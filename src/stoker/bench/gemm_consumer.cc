#include "stoker/bench/gemm_consumer.h"

#include <algorithm>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/cpu_time.h"
#include "stoker/bench/gemm_step.h"
#include "stoker/bench/step_clock.h"
#include "stoker/bench/utilization_log.h"
#include "stoker/observe/batch_source.h"

namespace stoker::bench {
namespace {

// A trainer's host runs milliseconds ahead of its GPU.
constexpr std::size_t kStepsAhead = 16;
constexpr int kFitRounds = 3;
constexpr double kFitS = 0.25;         // each
constexpr double kMemoryShare = 0.25;  // of the measured time
constexpr double kSettleS = 0.1;       // until the feed has nothing more to fill

class GemmRun {
 public:
  GemmRun(feed::Feed& feed, const GemmConsumerOptions& options)
      : feed_(feed),
        options_(options),
        stream_(options.device),
        gemm_(options.device),
        clock_(options.device, kStepsAhead) {
    gemm_.fit_to(options.step_s, stream_);
  }

  GemmConsumerReport run() {
    for (std::uint64_t i = 0; i < options_.warm_batches && step(); ++i) {
    }
    fit_beside_feed();
    report_.consumer = {};
    UtilizationLog utilization(options_.device);
    const double cpu_before_s = process_cpu_s();
    const double own_before_s = thread_cpu_s();
    const Stopwatch watch;
    while (watch.seconds() < options_.seconds && step()) {
    }
    put_times(clock_.finish(), watch.seconds());
    report_.consumer.cpu_s = process_cpu_s() - cpu_before_s - (thread_cpu_s() - own_before_s);
    report_.gpu_utilization_percent = utilization.finish();
    run_from_memory();
    return std::move(report_);
  }

 private:
  // The feed's kernels take their share of the GPU: with them a step is to take its time.
  void fit_beside_feed() {
    for (int round = 0; round < kFitRounds; ++round) {
      clock_.finish();
      const Stopwatch watch;
      while (watch.seconds() < kFitS && step()) {
      }
      const double median_s = clock_.finish().median_step_s();
      if (median_s > 0) gemm_.scale(options_.step_s / median_s);
    }
  }

  bool step() {
    std::optional<feed::Batch> batch = observe::next_of_any_epoch(feed_, options_.stop);
    if (!batch) return false;
    const observe::TakenBatch taken = observe::count_batch(*batch);
    enqueue(*batch);
    batch->release(stream_);
    ++report_.consumer.num_batches;
    report_.consumer.num_clips += taken.num_clips;
    report_.consumer.true_frames += taken.true_frames;
    report_.consumer.all_frames += taken.all_frames;
    return true;
  }

  void enqueue(feed::Batch& batch) {
    batch.wait(stream_);
    clock_.begin(stream_);
    gemm_.run(stream_);
    clock_.end(stream_);
  }

  void put_times(StepTimes times, double wall_s) {
    report_.step_s = times.median_step_s();
    const double busy_s = times.busy_s();
    report_.busy_share = busy_s / std::max(1e-9, busy_s + times.wait_s);
    report_.consumer.wall_s = wall_s;
    report_.consumer.wait_s = times.wait_s;
    report_.consumer.intervals_s = std::move(times.intervals_s);
  }

  void run_from_memory() {
    std::optional<feed::Batch> batch = observe::next_of_any_epoch(feed_, options_.stop);
    if (!batch) return;
    const auto run_for = [&](double seconds) {
      const Stopwatch watch;
      while (watch.seconds() < seconds && !options_.stop.stop_requested()) enqueue(*batch);
      StepTimes times = clock_.finish();
      report_.memory.wall_s = watch.seconds();
      return times;
    };
    run_for(kSettleS);
    StepTimes times = run_for(kMemoryShare * options_.seconds);
    report_.step_alone_s = times.median_step_s();
    report_.memory.num_batches = times.steps_s.size();
    report_.memory.wait_s = times.wait_s;
    report_.memory.intervals_s = std::move(times.intervals_s);
    batch->release(stream_);
  }

  feed::Feed& feed_;
  const GemmConsumerOptions& options_;
  cuda::Stream stream_;
  GemmStep gemm_;
  StepClock clock_;
  GemmConsumerReport report_;
};

}  // namespace

GemmConsumerReport run_gemm_consumer(feed::Feed& feed, const GemmConsumerOptions& options) {
  return GemmRun(feed, options).run();
}

}  // namespace stoker::bench
