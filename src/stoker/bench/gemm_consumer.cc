#include "stoker/bench/gemm_consumer.h"

#include <algorithm>
#include <deque>

#include "stoker/base/clock.h"
#include "stoker/base/cpu_time.h"
#include "stoker/base/sync.h"
#include "stoker/bench/gemm_step.h"
#include "stoker/cuda/event.h"
#include "stoker/cuda/nvml.h"
#include "stoker/observe/batch_source.h"

namespace stoker::bench {
namespace {

constexpr std::size_t kStepsAhead = 2;
constexpr double kMsPerS = 1e3;

// Asks the driver once a second, as it averages over about that long.
class UtilizationLog {
 public:
  explicit UtilizationLog(int device)
      : nvml_(cuda::Nvml::open()), thread_("gpu-use", [this, device](const std::stop_token& stop) {
          watch(static_cast<unsigned>(device), stop);
        }) {}

  std::vector<double> finish() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    const Lock lock(mutex_);
    return percent_;
  }

 private:
  void watch(unsigned device, const std::stop_token& stop) {
    Lock lock(mutex_);
    while (nvml_ != nullptr) {
      const Deadline next = Deadline::after(system_clock(), std::chrono::seconds(1));
      WaitEnd end = WaitEnd::kNotified;
      while (end == WaitEnd::kNotified) end = changed_.wait_until(lock, stop, next);
      if (end == WaitEnd::kStopped) return;
      const cuda::GpuSample sample = nvml_->sample(device);
      if (sample.utilization_percent) percent_.push_back(*sample.utilization_percent);
    }
  }

  std::unique_ptr<cuda::Nvml> nvml_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<double> percent_ STOKER_GUARDED_BY(mutex_);
  Thread thread_;  // last: ends first
};

// One step's marks in the consumer's stream.
struct StepMarks {
  explicit StepMarks(int device)
      : begin(device, cuda::EventUse::kTiming), end(device, cuda::EventUse::kTiming) {}
  cuda::Event begin;
  cuda::Event end;
};

class GemmRun {
 public:
  GemmRun(feed::Feed& feed, const GemmConsumerOptions& options)
      : feed_(feed), options_(options), stream_(options.device), gemm_(options.device) {
    for (std::size_t i = 0; i < kStepsAhead + 2; ++i) marks_.emplace_back(options.device);
    report_.step_s = gemm_.fit_to(options.step_s, stream_);
  }

  GemmConsumerReport run() {
    for (std::uint64_t i = 0; i < options_.warm_batches; ++i) {
      if (!step()) break;
    }
    stream_.synchronize();
    forget();
    UtilizationLog utilization(options_.device);
    const double cpu_before_s = process_cpu_s();
    const double own_before_s = thread_cpu_s();
    const Stopwatch watch;
    while (watch.seconds() < options_.seconds && step()) {
    }
    stream_.synchronize();
    while (num_read_ < num_steps_) read_marks();
    finish(watch.seconds());
    report_.consumer.cpu_s = process_cpu_s() - cpu_before_s - (thread_cpu_s() - own_before_s);
    report_.gpu_utilization_percent = utilization.finish();
    return std::move(report_);
  }

 private:
  StepMarks& marks(std::uint64_t step) { return marks_[step % marks_.size()]; }

  bool step() {
    std::optional<feed::Batch> batch = observe::next_of_any_epoch(feed_, options_.stop);
    if (!batch) return false;
    const observe::TakenBatch taken = observe::count_batch(*batch);
    batch->wait(stream_);
    marks(num_steps_).begin.record(stream_);
    gemm_.run(stream_);
    marks(num_steps_).end.record(stream_);
    batch->release(stream_);
    ++num_steps_;
    ++report_.consumer.num_batches;
    report_.consumer.num_clips += taken.num_clips;
    report_.consumer.true_frames += taken.true_frames;
    report_.consumer.all_frames += taken.all_frames;
    while (num_steps_ - num_read_ > kStepsAhead) read_marks();
    return true;
  }

  // The oldest step not yet looked at; waits for it.
  void read_marks() {
    const StepMarks& now = marks(num_read_);
    now.end.synchronize();
    steps_s_.push_back(now.end.ms_since(now.begin) / kMsPerS);
    if (num_read_ > first_) {
      const StepMarks& before = marks(num_read_ - 1);
      report_.consumer.wait_s += now.begin.ms_since(before.end) / kMsPerS;
      report_.consumer.intervals_s.push_back(now.end.ms_since(before.end) / kMsPerS);
    }
    ++num_read_;
  }

  void forget() {
    while (num_read_ < num_steps_) read_marks();
    first_ = num_read_;
    report_.consumer = {};
    steps_s_.clear();
  }

  void finish(double wall_s) {
    report_.consumer.wall_s = wall_s;
    double busy_s = 0;
    for (const double each : steps_s_) busy_s += each;
    report_.busy_share = busy_s / std::max(1e-9, busy_s + report_.consumer.wait_s);
    if (steps_s_.empty()) return;
    std::nth_element(steps_s_.begin(),
                     steps_s_.begin() + static_cast<std::ptrdiff_t>(steps_s_.size() / 2),
                     steps_s_.end());
    report_.step_cost = steps_s_[steps_s_.size() / 2] / report_.step_s - 1;
  }

  feed::Feed& feed_;
  const GemmConsumerOptions& options_;
  cuda::Stream stream_;
  GemmStep gemm_;
  std::deque<StepMarks> marks_;
  std::uint64_t num_steps_ = 0, num_read_ = 0, first_ = 0;
  std::vector<double> steps_s_;
  GemmConsumerReport report_;
};

}  // namespace

GemmConsumerReport run_gemm_consumer(feed::Feed& feed, const GemmConsumerOptions& options) {
  return GemmRun(feed, options).run();
}

}  // namespace stoker::bench
