#include "stoker/bench/gemm_consumer.h"

#include <numeric>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/machine_figures.h"
#include "stoker/bench/gemm_step.h"
#include "stoker/observe/batch_source.h"
#include "stoker/observe/nvml_sampler.h"
#include "stoker/observe/statistics.h"
#include "stoker/observe/step_clock.h"

namespace stoker::bench {
namespace {

// A trainer's host runs milliseconds ahead of its GPU.
constexpr std::size_t kStepsAhead = 16;
constexpr int kFitRounds = 3;
constexpr double kFitS = 0.25;  // each
// Before and after: a GPU's clock drifts by a per cent within seconds.
constexpr double kMemoryShare = 0.15;  // of the measured time, each
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
    run_from_memory();
    run_beside_feed();
    run_from_memory();
    put_times();
    return std::move(report_);
  }

 private:
  void run_for(double seconds) {
    const Stopwatch watch;
    while (watch.seconds() < seconds && !clock_.is_full() && step()) {
    }
  }

  void run_beside_feed() {
    observe::NvmlSampler utilization(observe::open_gpu_gauge(options_.device));
    const double cpu_before_s = process_cpu_s();
    const double own_before_s = thread_cpu_s();
    const Stopwatch watch;
    run_for(options_.seconds);
    times_ = clock_.finish(stream_);
    report_.consumer.wall_s = watch.seconds();
    report_.consumer.cpu_s = process_cpu_s() - cpu_before_s - (thread_cpu_s() - own_before_s);
    for (const observe::GpuSecond& second : utilization.finish().seconds)
      if (second.utilization_percent)
        report_.gpu_utilization_percent.push_back(*second.utilization_percent);
  }

  // The feed's kernels take their share of the GPU: with them a step is to take its time.
  void fit_beside_feed() {
    for (int round = 0; round < kFitRounds; ++round) {
      clock_.finish(stream_);
      run_for(kFitS);
      const double median_s = observe::median_of(clock_.finish(stream_).steps_s);
      if (median_s > 0) gemm_.scale(options_.step_s / median_s);
    }
  }

  bool step() {
    std::optional<feed::Batch> batch = observe::next_of_any_epoch(feed_, options_.stop);
    if (!batch) return false;
    const observe::TakenBatch taken = observe::count_batch(*batch);
    enqueue(*batch);
    batch->release(stream_);
    report_.consumer += taken;
    return true;
  }

  void enqueue(feed::Batch& batch) {
    batch.wait(stream_);
    gemm_.run(stream_, clock_.begin());
    clock_.end(stream_);
  }

  // The same steps over one batch that stays, while the feed rests.
  void run_from_memory() {
    std::optional<feed::Batch> batch = observe::next_of_any_epoch(feed_, options_.stop);
    if (!batch) return;
    const auto repeat_for = [&](double seconds) {
      const Stopwatch watch;
      while (watch.seconds() < seconds && !clock_.is_full() && !options_.stop.stop_requested()) {
        enqueue(*batch);
      }
      return clock_.finish(stream_);
    };
    repeat_for(kSettleS);
    resting_.append(repeat_for(kMemoryShare * options_.seconds));
    batch->release(stream_);
  }

  void put_times() {
    const double usual_gap_s = observe::median_of(resting_.gaps_s);
    report_.step_s = observe::median_of(times_.steps_s);
    report_.step_alone_s = observe::median_of(resting_.steps_s);
    const double mean_s = observe::mean_of(times_.intervals_s);
    report_.accelerator_use = mean_s > 0 ? observe::mean_of(resting_.intervals_s) / mean_s : 0;
    report_.consumer.wait_s = times_.wait_s(usual_gap_s);
    report_.consumer.intervals_s = std::move(times_.intervals_s);
    report_.memory.num_batches = resting_.steps_s.size();
    report_.memory.wait_s = resting_.wait_s(usual_gap_s);
    report_.memory.wall_s =
        std::accumulate(resting_.intervals_s.begin(), resting_.intervals_s.end(), 0.0);
    report_.memory.intervals_s = std::move(resting_.intervals_s);
  }

  feed::Feed& feed_;
  const GemmConsumerOptions& options_;
  cuda::Stream stream_;
  GemmStep gemm_;
  observe::StepClock clock_;
  observe::StepTimes times_;    // beside the feed
  observe::StepTimes resting_;  // while it rests
  GemmConsumerReport report_;
};

}  // namespace

GemmConsumerReport run_gemm_consumer(feed::Feed& feed, const GemmConsumerOptions& options) {
  return GemmRun(feed, options).run();
}

}  // namespace stoker::bench
