#include "stoker/observe/diagnose/supply_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stoker/base/philox.h"
#include "stoker/observe/diagnose/thresholds.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

using feed::RecordStage;

constexpr std::size_t kNumWorkerStages = static_cast<std::size_t>(RecordStage::kWaitSlot);
constexpr int kFitRounds = 4;
constexpr double kMostScale = 3;
constexpr std::uint64_t kResampleSeed = 22;

std::size_t index_of(RecordStage stage) { return static_cast<std::size_t>(stage); }

// The stages that a cache makes unnecessary.
bool is_before_assembly(std::size_t stage) {
  return stage >= index_of(RecordStage::kFetch) && stage <= index_of(RecordStage::kText);
}

double mean_wait_share(const std::vector<BatchWork>& batches) {
  double wait_s = 0, all_s = 0;
  for (const BatchWork& work : batches) {
    wait_s += work.wait_s;
    all_s += work.interval_s();
  }
  return all_s > 0 ? wait_s / all_s : 0;
}

double mean_interval_s(const std::vector<BatchWork>& batches) {
  double all_s = 0;
  for (const BatchWork& work : batches) all_s += work.interval_s();
  return all_s / static_cast<double>(batches.size());
}

// Blocks of neighbours, drawn with replacement.
std::vector<std::size_t> resample(std::size_t count, KeyedDraws& draws) {
  const std::size_t wanted = std::min<std::size_t>(count, kMostSimulated / 3);
  const std::size_t block = std::min(kResampleBlock, count);
  std::vector<std::size_t> order;
  while (order.size() < wanted) {
    const auto first = static_cast<std::size_t>(draws.next_below(count - block + 1));
    for (std::size_t i = 0; i < block; ++i) order.push_back(first + i);
  }
  return order;
}

}  // namespace

const SupplyRun* find_run(const Evidence& evidence, RunKind kind) {
  const auto found = std::find_if(evidence.runs.begin(), evidence.runs.end(),
                                  [kind](const SupplyRun& run) { return run.kind == kind; });
  return found == evidence.runs.end() || found->batches_per_s <= 0 ? nullptr : &*found;
}

Scenario Scenario::with_native_loader(const SupplyRun& run) {
  Scenario native;
  native.num_workers = run.num_workers;
  native.supply_batches_per_s = run.batches_per_s;
  native.has_free_consumer = true;
  return native;
}

Scenario& Scenario::drop(RecordStage stage) {
  cpu_factor[index_of(stage)] = 0;
  blocked_factor[index_of(stage)] = 0;
  return *this;
}

SupplyModel::SupplyModel(const Evidence& evidence)
    : setup_(evidence.setup), batches_(works_of(evidence)), nominal_step_s_(evidence.watch.step_s) {
  cores_ = cores_of(evidence, batches_);
  const std::size_t first = batches_.size() > kMostSimulated ? batches_.size() - kMostSimulated : 0;
  for (std::size_t i = first; i < batches_.size(); ++i) in_order_.push_back(i);
  if (batches_.empty()) return;
  double held = 0;
  for (const BatchWork& work : batches_) held += evidence.watch.records[work.record].num_held;
  mean_held_ = std::max(1.0, held / static_cast<double>(batches_.size()));
  fit_serial_part(evidence);
  fit_runs(evidence);
  base_ = predict(Scenario{});
}

void SupplyModel::fit_serial_part(const Evidence& evidence) {
  const SupplyRun *one = nullptr, *most = find_run(evidence, RunKind::kSupply);
  for (const SupplyRun& run : evidence.runs) {
    if (run.kind != RunKind::kWorkers || run.batches_per_s <= 0) continue;
    if (run.num_workers == 1) one = &run;
    if (most == nullptr || run.num_workers > most->num_workers) most = &run;
  }
  if (one == nullptr || most == nullptr || most->num_workers < 2) return;
  const bool is_storage = blocked_s(RecordStage::kFetch) > 0.5 * blocked_share() * worker_s();
  // On contested cores every thread is off its core for most of the time.
  const bool is_contested = cores_.others > 0.5 * cores_.limit;
  // Workers that take turns leave cores free, and wake each other onto the same one.
  const bool takes_turns = blocked_share() >= kBlockedShare || !cores_.is_saturated();
  if (is_contested || !takes_turns || is_storage || waits_for_slow_files(evidence, batches_))
    return;
  const double growth = std::min(kMostSerialGrowth, 1 + kSerialGrowth * (most->num_workers - 1));
  if (most->batches_per_s > growth * one->batches_per_s) return;
  serial_s_ = 1 / most->batches_per_s;
}

// First so that the model gives what the runs gave at their numbers of workers, then so that it
// gives what the consumer saw where that waited.
void SupplyModel::fit_runs(const Evidence& evidence) {
  for (const SupplyRun& run : evidence.runs) {
    const bool is_same_feed = run.kind == RunKind::kSupply || run.kind == RunKind::kWorkers;
    if (!is_same_feed || run.batches_per_s <= 0) continue;
    if (run.kind == RunKind::kSupply) measured_supply_ = run.batches_per_s;
    Scenario unpaced{.num_workers = run.num_workers};
    unpaced.is_unpaced = true;
    const double modelled_s = predict(unpaced).interval_s;
    if (modelled_s <= 0) continue;
    const double scale = 1 / (run.batches_per_s * modelled_s);
    anchors_.push_back(
        {run.num_workers, std::clamp(scale, 1 / kMostScale, kMostScale), run.spread});
    spread_ = std::max(spread_, run.spread);
  }
  if (mean_wait_share(batches_) <= kStarvedShare) return;
  const double seen_s = mean_interval_s(batches_);
  if (anchors_.empty()) anchors_.push_back({setup_.num_workers, 1, 0});
  for (int round = 0; round < kFitRounds; ++round) {
    const double modelled_s = predict(Scenario{}).interval_s;
    if (modelled_s <= 0) return;
    const double ratio = std::clamp(seen_s / modelled_s, 0.5, 2.0);
    for (Anchor& anchor : anchors_)
      anchor.scale = std::clamp(anchor.scale * ratio, 1 / kMostScale, kMostScale);
  }
}

double SupplyModel::scale_of(const Scenario& scenario) const {
  const unsigned wanted = scenario.num_workers.value_or(setup_.num_workers);
  const Anchor* nearest = nullptr;
  const auto distance = [wanted](const Anchor& anchor) {
    return std::abs(static_cast<double>(anchor.num_workers) - static_cast<double>(wanted));
  };
  for (const Anchor& anchor : anchors_) {
    if (nearest == nullptr || distance(anchor) < distance(*nearest)) nearest = &anchor;
  }
  return nearest == nullptr ? 1.0 : nearest->scale;
}

SimulatedFeed SupplyModel::feed_of(const Scenario& scenario) const {
  const auto held = static_cast<unsigned>(std::lround(mean_held_));
  return {.num_workers = scenario.num_workers.value_or(setup_.num_workers),
          .num_cores = std::max(kLeastCores, scenario.cores.value_or(cores_.available)),
          .depth = scenario.depth.value_or(setup_.depth),
          .num_held = scenario.num_held.value_or(held)};
}

SimulatedBatch SupplyModel::cost_of(const BatchWork& work, const Scenario& scenario) const {
  SimulatedBatch cost;
  for (std::size_t i = 0; i < kNumWorkerStages; ++i) {
    if (scenario.is_cached && is_before_assembly(i)) continue;
    cost.cpu_s += work.cpu_s[i] * scenario.cpu_factor[i];
    cost.blocked_s += work.blocked_s[i] * scenario.blocked_factor[i];
  }
  if (scenario.is_cached)
    cost.cpu_s += static_cast<double>(work.padded_frames) * kMelBytesPerFrame / kCachedBytesPerS;
  if (!scenario.has_outliers) {
    cost.cpu_s = std::max(0.0, cost.cpu_s - work.outlier_s * work.outlier_cpu_share);
    cost.blocked_s = std::max(0.0, cost.blocked_s - work.outlier_s * (1 - work.outlier_cpu_share));
  }
  if (serial_s_ > 0) {
    cost.blocked_s = 0;
    if (scenario.has_serial_part && !scenario.is_cached) {
      cost.serial_s = serial_s_;
      cost.cpu_s = std::max(0.0, cost.cpu_s - serial_s_);
    }
  }
  for (const RecordStage stage : {RecordStage::kCopy, RecordStage::kKernel})
    cost.transfer_s += work.cpu_s[index_of(stage)] * scenario.cpu_factor[index_of(stage)];
  if (scenario.is_unpaced) return cost;
  cost.consumer_s = work.step_s * scenario.step_factor;
  if (scenario.has_free_consumer)
    cost.consumer_s = std::min(cost.consumer_s, nominal_step_s_.value_or(cost.consumer_s));
  for (std::size_t i = 0; i < work.works_s.size(); ++i)
    cost.consumer_s += work.works_s[i] * scenario.work_factor[i];
  return cost;
}

std::vector<SimulatedBatch> SupplyModel::costs_of(const Scenario& scenario,
                                                  const std::vector<std::size_t>& order) const {
  const double scale = scale_of(scenario);
  std::vector<SimulatedBatch> costs;
  costs.reserve(order.size());
  for (const std::size_t i : order) {
    SimulatedBatch cost = cost_of(batches_[i], scenario);
    cost.cpu_s *= scale;
    cost.blocked_s *= scale;
    costs.push_back(cost);
  }
  return costs;
}

SimulatedRun SupplyModel::predict(const Scenario& scenario,
                                  const std::vector<std::size_t>& order) const {
  std::vector<SimulatedBatch> costs = costs_of(scenario, order);
  const SimulatedFeed feed = feed_of(scenario);
  if (scenario.supply_batches_per_s) {
    std::vector<SimulatedBatch> unpaced = costs;
    for (SimulatedBatch& cost : unpaced) cost.consumer_s = 0;
    const double own_s = simulate(unpaced, feed).interval_s;
    const double factor = own_s > 0 ? 1 / (*scenario.supply_batches_per_s * own_s) : 0;
    for (SimulatedBatch& cost : costs) {
      for (double SimulatedBatch::*part : {&SimulatedBatch::blocked_s, &SimulatedBatch::serial_s,
                                           &SimulatedBatch::cpu_s, &SimulatedBatch::transfer_s})
        cost.*part *= factor;
    }
  }
  return simulate(costs, feed);
}

SimulatedRun SupplyModel::predict(const Scenario& scenario) const {
  return predict(scenario, in_order_);
}

double SupplyModel::supply_batches_per_s() const {
  if (measured_supply_) return *measured_supply_;
  Scenario unpaced;
  unpaced.is_unpaced = true;
  const double interval_s = predict(unpaced).interval_s;
  return interval_s > 0 ? 1 / interval_s : 0;
}

double SupplyModel::regained(const Scenario& scenario) const {
  if (base_.interval_s <= 0) return 0;
  return std::clamp(1 - predict(scenario).interval_s / base_.interval_s, 0.0, 1.0);
}

Gain SupplyModel::gain(const Scenario& scenario) const {
  const double changed_s = predict(scenario).interval_s;
  if (base_.interval_s <= 0 || changed_s <= 0) return {};
  Gain gain{.value = base_.interval_s / changed_s};
  KeyedDraws draws({kResampleSeed, "diagnose", 0, 0});
  std::vector<double> drawn;
  for (std::size_t i = 0; i < kNumResamples; ++i) {
    const std::vector<std::size_t> order = resample(batches_.size(), draws);
    const double before_s = predict(Scenario{}, order).interval_s;
    const double after_s = predict(scenario, order).interval_s;
    if (after_s > 0) drawn.push_back(before_s / after_s);
  }
  std::sort(drawn.begin(), drawn.end());
  const double spread = std::clamp(spread_, kLeastSpread, kMostSpread);
  gain.low = gain.value, gain.high = gain.value;
  if (!drawn.empty()) {
    gain.low = std::min(gain.low, drawn[drawn.size() / 20]);
    gain.high = std::max(gain.high, drawn[drawn.size() - 1 - drawn.size() / 20]);
  }
  gain.low *= 1 - spread;
  gain.high *= 1 + spread;
  return gain;
}

double SupplyModel::stage_s(RecordStage stage) const {
  if (batches_.empty()) return 0;
  double sum_s = 0;
  for (const BatchWork& work : batches_)
    sum_s += work.cpu_s[index_of(stage)] + work.blocked_s[index_of(stage)];
  return sum_s / static_cast<double>(batches_.size());
}

double SupplyModel::blocked_s(RecordStage stage) const {
  if (batches_.empty()) return 0;
  double sum_s = 0;
  for (const BatchWork& work : batches_) sum_s += work.blocked_s[index_of(stage)];
  return sum_s / static_cast<double>(batches_.size());
}

double SupplyModel::worker_s() const {
  double sum_s = 0;
  for (std::size_t i = 0; i < kNumWorkerStages; ++i) sum_s += stage_s(static_cast<RecordStage>(i));
  return sum_s;
}

double SupplyModel::blocked_share() const {
  double blocked_s = 0;
  for (const BatchWork& work : batches_)
    blocked_s += std::reduce(work.blocked_s.begin(), work.blocked_s.end());
  const double all_s = worker_s() * static_cast<double>(batches_.size());
  return all_s > 0 ? blocked_s / all_s : 0;
}

}  // namespace stoker::observe
