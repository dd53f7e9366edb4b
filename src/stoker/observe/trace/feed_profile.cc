#include "stoker/observe/trace/feed_profile.h"

#include <algorithm>
#include <cmath>

namespace stoker::observe {
namespace {

using feed::BatchRecord;
using feed::RecordStage;

constexpr double kMsPerNs = 1e-6;
constexpr double kSPerNs = 1e-9;
constexpr std::size_t kNumWorkerStages = static_cast<std::size_t>(RecordStage::kWaitSlot);
constexpr double kGoodBelowMs = 100, kSlowAboveMs = 500;

std::size_t index_of(RecordStage stage) { return static_cast<std::size_t>(stage); }

// Stages that read storage.
bool reads(std::size_t stage) {
  return stage == index_of(RecordStage::kFetch) || stage == index_of(RecordStage::kDecode);
}

std::int64_t fill_ns(const BatchRecord& record) {
  std::int64_t sum_ns = 0;
  for (std::size_t i = 0; i < kNumWorkerStages; ++i) sum_ns += record.stages[i].busy_ns;
  return sum_ns;
}

// Seconds in which the workers wanted a core and had none.
double core_wait_s(const MachineWindow& machine, double span_s) {
  double waited_per_s = 0;
  for (const ThreadLoad& thread : machine.cpu.threads)
    if (thread.name.starts_with("stoker-fill")) waited_per_s += thread.run_queue_wait;
  return waited_per_s * span_s;
}

}  // namespace

std::string_view name_of(LoadVerdict verdict) {
  static constexpr std::array<std::string_view, 3> kNames{"good", "moderate", "slow"};
  return kNames[static_cast<std::size_t>(verdict)];
}

LoadVerdict judge_load(double batch_ms) {
  if (batch_ms < kGoodBelowMs) return LoadVerdict::kGood;
  return batch_ms <= kSlowAboveMs ? LoadVerdict::kModerate : LoadVerdict::kSlow;
}

double FeedProfile::fill_ms() const {
  double sum_s = 0;
  for (const StageTimes& stage : stages)
    if (stage.core_ms) sum_s += stage.total_s;
  return num_batches == 0 ? 0 : 1e3 * sum_s / static_cast<double>(num_batches);
}

void ProfileSums::add(const BatchRecord& record) {
  for (std::size_t i = 0; i < busy_ns_.size(); ++i) {
    busy_ns_[i] += record.stages[i].busy_ns;
    num_measured_[i] += record.stages[i].busy_ns > 0 ? 1 : 0;
  }
  worker_cpu_ns_ += std::max<std::int64_t>(0, record.worker_cpu_ns);
  worker_sum_ += record.num_workers;
  if (num_batches_ > 0) later_fill_ns_ += fill_ns(record);
  add_consumer(record);
  ++num_batches_;
}

void ProfileSums::add_consumer(const BatchRecord& record) {
  const double wait_ms =
      kMsPerNs * static_cast<double>(std::max<std::int64_t>(0, record.wait_ns()));
  if (num_batches_ == 0) {
    first_wait_ms_ = wait_ms;
    first_handed_ns_ = record.handed_ns;
  } else {
    least_wait_ms_ = num_waits_ == 0 ? wait_ms : std::min(least_wait_ms_, wait_ms);
    most_wait_ms_ = std::max(most_wait_ms_, wait_ms);
    wait_sum_ms_ += wait_ms;
    wait_squares_ += wait_ms * wait_ms;
    ++num_waits_;
    if (record.number == last_number_ + 1) {
      step_sum_ms_ += kMsPerNs * static_cast<double>(
                                     std::max<std::int64_t>(0, record.asked_ns - last_handed_ns_));
      ++num_steps_;
      for (std::size_t i = 0; i < works_ns_.size(); ++i) works_ns_[i] += record.works_ns[i];
    }
  }
  last_number_ = record.number;
  last_handed_ns_ = record.handed_ns;
}

FeedProfile ProfileSums::profile(const std::optional<MachineWindow>& machine) const {
  FeedProfile out;
  out.num_batches = num_batches_;
  out.first_wait_ms = first_wait_ms_;
  if (num_batches_ == 0) return out;
  out.num_workers = worker_sum_ / static_cast<double>(num_batches_);
  if (num_waits_ > 0) {
    const auto count = static_cast<double>(num_waits_);
    out.data_ms = wait_sum_ms_ / count;
    out.data_std_ms = std::sqrt(std::max(0.0, wait_squares_ / count - out.data_ms * out.data_ms));
    out.data_min_ms = least_wait_ms_;
    out.data_max_ms = most_wait_ms_;
  }
  if (num_steps_ > 0) out.compute_ms = step_sum_ms_ / static_cast<double>(num_steps_);
  put_workers(machine, out);
  put_device(out);
  put_consumer(out);
  return out;
}

// A worker that is not on a core while it fills a batch waits for storage or for the core; between
// two batches it waits for a slot to fill.
void ProfileSums::put_workers(const std::optional<MachineWindow>& machine, FeedProfile& out) const {
  double wall_s = 0, reading_s = 0;
  for (std::size_t i = 0; i < kNumWorkerStages; ++i) {
    const double busy_s = kSPerNs * static_cast<double>(busy_ns_[i]);
    wall_s += busy_s;
    if (reads(i)) reading_s += busy_s;
  }
  const bool is_cpu_known = worker_cpu_ns_ > 0;
  const double span_s = kSPerNs * static_cast<double>(last_handed_ns_ - first_handed_ns_);
  const double off_s =
      is_cpu_known ? std::max(0.0, wall_s - kSPerNs * static_cast<double>(worker_cpu_ns_)) : 0;
  const double all_queued_s = machine ? core_wait_s(*machine, span_s) : 0;
  const double queued_s = std::min(off_s, all_queued_s);
  const double input_s = std::min(off_s - queued_s, reading_s);
  const double core_share = wall_s > 0 ? (off_s - input_s) / wall_s : 0;
  const double ms_a_batch = 1e3 / static_cast<double>(num_batches_);
  for (std::size_t i = 0; i < kNumWorkerStages; ++i) {
    const double busy_s = kSPerNs * static_cast<double>(busy_ns_[i]);
    StageTimes stage{.name = std::string(feed::name_of(static_cast<RecordStage>(i))),
                     .thread = out.num_workers > 0 ? "worker" : "consumer"};
    const double core_s = busy_s * core_share;
    const double waits_s =
        reads(i) && reading_s > 0 ? std::min(input_s * busy_s / reading_s, busy_s - core_s) : 0;
    stage.core_ms = core_s * ms_a_batch;
    if (reads(i)) stage.input_ms = waits_s * ms_a_batch;
    stage.working_ms = (busy_s - core_s - waits_s) * ms_a_batch;
    stage.total_s = busy_s;
    if (i == index_of(RecordStage::kPlan) && out.num_workers > 0) {
      const double idle_s =
          out.num_workers * span_s - kSPerNs * static_cast<double>(later_fill_ns_);
      // One that was woken may wait for a core before it begins.
      const double late_s = std::clamp(all_queued_s - queued_s, 0.0, std::max(0.0, idle_s));
      stage.room_ms = std::max(0.0, idle_s - late_s) * ms_a_batch;
      *stage.core_ms += late_s * ms_a_batch;
    }
    out.stages.push_back(std::move(stage));
  }
}

// The GPU's own times are taken of some of the batches.
void ProfileSums::put_device(FeedProfile& out) const {
  for (const RecordStage stage : {RecordStage::kCopy, RecordStage::kKernel}) {
    const std::size_t i = index_of(stage);
    if (num_measured_[i] == 0) continue;
    StageTimes times{.name = std::string(feed::name_of(stage)), .thread = "gpu"};
    times.total_s = kSPerNs * static_cast<double>(busy_ns_[i]);
    times.working_ms = 1e3 * times.total_s / static_cast<double>(num_measured_[i]);
    if (stage == RecordStage::kCopy)
      times.room_ms = kMsPerNs * static_cast<double>(busy_ns_[index_of(RecordStage::kWaitSlot)]) /
                      static_cast<double>(num_batches_);
    out.stages.push_back(std::move(times));
  }
}

void ProfileSums::put_consumer(FeedProfile& out) const {
  const auto count = static_cast<double>(std::max<std::uint64_t>(1, num_steps_));
  double works_ms = 0;
  std::vector<StageTimes> works;
  for (std::size_t i = 0; i < works_ns_.size(); ++i) {
    if (works_ns_[i] <= 0) continue;
    StageTimes work{.name = std::string(feed::name_of(static_cast<feed::ConsumerWork>(i))),
                    .thread = "consumer"};
    work.working_ms = kMsPerNs * static_cast<double>(works_ns_[i]) / count;
    work.total_s = kSPerNs * static_cast<double>(works_ns_[i]);
    works_ms += work.working_ms;
    works.push_back(std::move(work));
  }
  StageTimes step{.name = "step", .thread = "consumer"};
  step.working_ms = std::max(0.0, out.compute_ms - works_ms);
  step.input_ms = out.data_ms;
  step.total_s = 1e-3 * (step_sum_ms_ + wait_sum_ms_);
  out.stages.push_back(std::move(step));
  out.stages.insert(out.stages.end(), works.begin(), works.end());
}

}  // namespace stoker::observe
