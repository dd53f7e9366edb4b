// What a consumer loses without waiting for the feed: work between steps, long steps, a GPU that
// its host does not keep busy, padding.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/observe/diagnose/findings.h"
#include "stoker/observe/diagnose/thresholds.h"
#include "stoker/observe/machine/machine_sampler.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

using feed::BatchRecord;
using feed::ConsumerWork;

constexpr double kSPerNs = 1e-9;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// Seconds of single steps beyond the median of their shape.
double long_steps_s(const Evidence& evidence, const std::vector<BatchWork>& batches) {
  std::map<std::uint32_t, std::vector<double>> by_shape;
  for (const BatchWork& work : batches)
    by_shape[evidence.watch.records[work.record].shape].push_back(work.step_s);
  double long_s = 0;
  for (const auto& [shape, steps_s] : by_shape) {
    const double usual_s = median_of(steps_s);
    for (const double step_s : steps_s) {
      if (step_s > kLongStepFactor * usual_s) long_s += step_s - usual_s;
    }
  }
  return long_s;
}

double start_wait_s(const Evidence& evidence) {
  double wait_s = 0;
  for (std::size_t i = 0; i < num_start_records(evidence); ++i)
    wait_s += static_cast<double>(evidence.watch.records[i].wait_ns()) * kSPerNs;
  return wait_s;
}

// Of the hand-outs at which it is known; of the time that the thread had between them.
double consumer_cpu_share(const std::vector<BatchRecord>& records) {
  std::int64_t cpu_ns = 0, own_ns = 0;
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (records[i].consumer_cpu_ns < 0) continue;
    cpu_ns += records[i].consumer_cpu_ns;
    own_ns += std::max<std::int64_t>(0, records[i].asked_ns - records[i - 1].handed_ns);
  }
  return own_ns > 0 ? std::min(1.0, static_cast<double>(cpu_ns) / static_cast<double>(own_ns)) : 0;
}

// Of the threads that are not the feed's.
double queued_share(const Evidence& evidence) {
  if (!evidence.watch.machine) return 0;
  double share = 0;
  for (const ThreadLoad& thread : evidence.watch.machine->cpu.threads) {
    if (!thread.name.starts_with("stoker-")) share += thread.run_queue_wait;
  }
  return std::min(1.0, share);
}

class ConsumerCauses {
 public:
  ConsumerCauses(const Evidence& evidence, const CoreFacts& cores, const TimeShares& shares)
      : evidence_(evidence), cores_(cores), shares_(shares) {}

  std::vector<NamedCause> find() {
    find_works();
    find_long_steps();
    find_gpu();
    find_padding();
    return std::move(found_);
  }

 private:
  void add(Cause cause, double share, std::vector<std::string> evidence) {
    if (share > kLeastShare)
      found_.push_back(
          {.cause = cause, .share = share, .regained = share, .evidence = std::move(evidence)});
  }

  void find_works() {
    constexpr std::array<Cause, feed::kNumConsumerWorks> kCauseOf{
        Cause::kLogging, Cause::kCheckpoint, Cause::kValidation, Cause::kHostSync,
        Cause::kHostWork};
    for (std::size_t i = 0; i < kCauseOf.size(); ++i) {
      const bool is_sync = static_cast<ConsumerWork>(i) == ConsumerWork::kSync;
      const bool are_ranks = is_sync && evidence_.setup.world_size > 1;
      std::size_t times = 0;
      for (const BatchRecord& record : evidence_.watch.records) times += record.works_ns[i] > 0;
      add(are_ranks ? Cause::kUnevenRanks : kCauseOf[i], shares_.works[i],
          {fmt::format("{} takes {} of the consumer's time, {} in {} steps",
                       feed::name_of(static_cast<ConsumerWork>(i)), percent(shares_.works[i]),
                       counted(times, "time", "times"), grouped(evidence_.watch.records.size()))});
    }
  }

  // What kept the consumer's thread from a core while it had one to use; nothing where it was not
  // kept, and its steps are long by themselves.
  std::optional<Cause> robber(double late_share) const {
    if (!evidence_.watch.machine) return std::nullopt;
    const CpuWindow& cpu = evidence_.watch.machine->cpu;
    if (cpu.quota_cores && cpu.throttled_share.value_or(0) > kThrottledShare)
      return Cause::kCpuQuota;
    double waited = 0;
    for (const ThreadLoad& thread : cpu.threads) {
      const bool is_feed = thread.name.starts_with("stoker-");
      if (!is_feed && thread.name != MachineSampler::kThreadName) waited += thread.run_queue_wait;
    }
    if (waited < kRobbedShare * late_share) return std::nullopt;
    if (evidence_.setup.num_workers >= kTooManyWorkers * cores_.limit) return Cause::kManyWorkers;
    if (cores_.others > kNeighbourCores) return Cause::kBusyNeighbour;
    return std::nullopt;
  }

  void find_long_steps() {
    const double late = shares_.long_steps + shares_.slow_steps;
    if (const std::optional<Cause> by = robber(late)) {
      add(*by, late, {fmt::format("the consumer's own steps take {} longer", percent(late))});
      return;
    }
    if (late > kHostWorkShare && evidence_.setup.is_on_gpu && waits_for_host(evidence_)) {
      add_idle_gpu(late);
      return;
    }
    const Oscillation pattern = find_oscillation(evidence_);
    const bool is_rhythm = pattern.is_present && pattern.what.find("own step") != std::string::npos;
    if (shares_.long_steps > kHostWorkShare)
      add(is_rhythm ? Cause::kHostWork : Cause::kSlowStep, shares_.long_steps,
          {fmt::format("single steps take {} of the time beyond the median step",
                       percent(shares_.long_steps)),
           is_rhythm ? fmt::format("they come every {} steps", pattern.period_batches)
                     : std::string("they come without a rhythm")});
    if (shares_.slow_steps > kHostWorkShare)
      add(Cause::kSlowStep, shares_.slow_steps,
          {fmt::format("a step takes {} more than the {:.2f} ms that it should",
                       percent(shares_.slow_steps / std::max(1e-9, 1 - shares_.slow_steps)),
                       1e3 * evidence_.watch.step_s.value_or(0))});
  }

  // A thread that is busy all the while cannot launch faster; one that is not has waited.
  void add_idle_gpu(double late) {
    is_gpu_idle_ = true;
    add(shares_.consumer_cpu > kBusyHost ? Cause::kSmallKernels : Cause::kHostSync, late,
        {fmt::format("the GPU had done its last step in {} of the looks at it, while the host "
                     "prepared the next one",
                     percent(*idle_look_share(evidence_))),
         fmt::format("the consumer's thread is busy {} of the time",
                     percent(shares_.consumer_cpu))});
  }

  void find_gpu() {
    if (!evidence_.watch.machine || !evidence_.watch.machine->gpu) return;
    const GpuWindow& gpu = *evidence_.watch.machine->gpu;
    const double own = std::max(0.0, 1 - shares_.stall - sum_of_works());
    if (gpu.throttled_share.value_or(0) > kThrottledSamples && gpu.clock_mhz && gpu.max_clock_mhz &&
        *gpu.clock_mhz < kThrottledClock * *gpu.max_clock_mhz)
      add(Cause::kThrottling,
          own * *gpu.throttled_share * (1 - *gpu.clock_mhz / *gpu.max_clock_mhz),
          {fmt::format("held down in {} of the samples: {:.0f} MHz of {:.0f}, {} W, {} °C",
                       percent(*gpu.throttled_share), *gpu.clock_mhz, *gpu.max_clock_mhz,
                       gpu.power_w ? fmt::format("{:.0f}", *gpu.power_w) : "?",
                       gpu.temperature_c ? fmt::format("{}", *gpu.temperature_c) : "?")});
    if (!evidence_.setup.is_on_gpu || is_gpu_idle_ || !gpu.utilization_percent ||
        *gpu.utilization_percent >= kIdleGpuPercent || shares_.stall > kStarvedShare)
      return;
    const double idle = std::min(own, 1 - *gpu.utilization_percent / 100);
    const bool is_busy = shares_.consumer_cpu > kBusyHost;
    add(is_busy ? Cause::kSmallKernels : Cause::kHostSync, idle,
        {fmt::format("the GPU works {:.0f} % of the time although batches are there",
                     *gpu.utilization_percent),
         fmt::format("the consumer's thread is busy {} of the time",
                     percent(shares_.consumer_cpu))});
  }
  double sum_of_works() const { return std::reduce(shares_.works.begin(), shares_.works.end()); }

  void find_padding() {
    const double padded = padding_share(evidence_);
    if (padded < kPaddedShare) return;
    add(Cause::kPadding,
        padded * std::max(0.0, shares_.step - shares_.long_steps - shares_.slow_steps),
        {fmt::format("{} of all frames are padding", percent(padded))});
  }

  const Evidence& evidence_;
  const CoreFacts& cores_;
  const TimeShares& shares_;
  bool is_gpu_idle_ = false;  // and a cause of its own already
  std::vector<NamedCause> found_;
};

}  // namespace

double padding_share(const Evidence& evidence) {
  double frames = 0, padded = 0;
  for (const BatchRecord& record : evidence.watch.records) {
    frames += record.num_frames;
    padded += record.padded_frames;
  }
  return padded > 0 ? std::max(0.0, 1 - frames / padded) : 0;
}

TimeShares shares_of(const Evidence& evidence, const SupplyModel& model) {
  TimeShares shares;
  double wait_s = 0, step_s = 0, slow_s = 0;
  WorkSeconds works_s{};
  for (const BatchWork& work : model.batches()) {
    wait_s += work.wait_s;
    step_s += work.step_s;
    for (std::size_t i = 0; i < works_s.size(); ++i) works_s[i] += work.works_s[i];
    if (evidence.watch.step_s && work.step_s > kSlowStepFactor * *evidence.watch.step_s)
      slow_s += work.step_s - *evidence.watch.step_s;
  }
  const double own_s = step_s + std::reduce(works_s.begin(), works_s.end());
  shares.all_s = wait_s + own_s;
  if (shares.all_s <= 0) return shares;
  // A consumer that launches ahead asks early after a late step: what they even out was not lost.
  if (evidence.watch.step_s)
    slow_s =
        std::min(slow_s, std::max(0.0, step_s - *evidence.watch.step_s *
                                                    static_cast<double>(model.batches().size())));
  shares.stall = wait_s / shares.all_s;
  shares.step = step_s / shares.all_s;
  for (std::size_t i = 0; i < works_s.size(); ++i) shares.works[i] = works_s[i] / shares.all_s;
  // A consumer that has to wait for a core is not slow itself.
  const double queued_s = queued_share(evidence) * shares.all_s;
  const double all_long_s = long_steps_s(evidence, model.batches());
  const double long_s = std::max(0.0, all_long_s - queued_s);
  slow_s -= std::max(0.0, queued_s - all_long_s);
  shares.long_steps = long_s / shares.all_s;
  shares.slow_steps = std::max(0.0, slow_s - long_s) / shares.all_s;
  shares.consumer_cpu = consumer_cpu_share(evidence.watch.records);
  const double start_s = start_wait_s(evidence);
  shares.start = start_s / (start_s + shares.all_s);
  return shares;
}

std::vector<NamedCause> consumer_causes(const Evidence& evidence, const SupplyModel& model,
                                        const TimeShares& shares) {
  if (model.is_empty() || !evidence.watch.is_paced) return {};
  return ConsumerCauses(evidence, model.cores(), shares).find();
}

}  // namespace stoker::observe
