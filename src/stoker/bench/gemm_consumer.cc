#include "stoker/bench/gemm_consumer.h"

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
    run_for(options_.seconds);
    StepTimes times = clock_.finish(stream_);
    report_.consumer.wall_s = watch.seconds();
    report_.consumer.cpu_s = process_cpu_s() - cpu_before_s - (thread_cpu_s() - own_before_s);
    report_.gpu_utilization_percent = utilization.finish();
    StepTimes resting = run_from_memory();
    put_times(std::move(times), std::move(resting));
    return std::move(report_);
  }

 private:
  void run_for(double seconds) {
    const Stopwatch watch;
    while (watch.seconds() < seconds && !clock_.is_full() && step()) {
    }
  }

  // The feed's kernels take their share of the GPU: with them a step is to take its time.
  void fit_beside_feed() {
    for (int round = 0; round < kFitRounds; ++round) {
      clock_.finish(stream_);
      run_for(kFitS);
      const double median_s = median_of(clock_.finish(stream_).steps_s);
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
    gemm_.run(stream_, clock_.begin());
    clock_.end(stream_);
  }

  // The same steps over one batch that stays.
  StepTimes run_from_memory() {
    std::optional<feed::Batch> batch = observe::next_of_any_epoch(feed_, options_.stop);
    if (!batch) return {};
    const auto repeat_for = [&](double seconds) {
      const Stopwatch watch;
      while (watch.seconds() < seconds && !clock_.is_full() && !options_.stop.stop_requested()) {
        enqueue(*batch);
      }
      return clock_.finish(stream_);
    };
    repeat_for(kSettleS);
    StepTimes times = repeat_for(kMemoryShare * options_.seconds);
    batch->release(stream_);
    return times;
  }

  void put_times(StepTimes times, StepTimes resting) {
    const double usual_gap_s = median_of(resting.gaps_s);
    report_.step_s = median_of(times.steps_s);
    report_.step_alone_s = median_of(resting.steps_s);
    const double mean_s = mean_of(times.intervals_s);
    report_.accelerator_use = mean_s > 0 ? mean_of(resting.intervals_s) / mean_s : 0;
    report_.consumer.wait_s = times.wait_s(usual_gap_s);
    report_.consumer.intervals_s = std::move(times.intervals_s);
    report_.memory.num_batches = resting.steps_s.size();
    report_.memory.wall_s =
        mean_of(resting.intervals_s) * static_cast<double>(resting.steps_s.size());
    report_.memory.wait_s = resting.wait_s(usual_gap_s);
    report_.memory.intervals_s = std::move(resting.intervals_s);
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
