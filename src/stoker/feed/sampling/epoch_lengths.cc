#include "stoker/feed/sampling/epoch_lengths.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;
// A few seconds of one core each.
constexpr std::uint64_t kMostPlannedRows = 10'000'000;
constexpr std::uint64_t kMostCountedRuns = 1'000'000'000;

void check_epoch(std::uint64_t epoch) {
  if (epoch < kEndEpoch) return;
  raise({.code = &kFeedState,
         .promised = "a batch before epoch " + grouped(kEndEpoch),
         .found = "a later one",
         .cure = "name an earlier batch"});
}

}  // namespace

EpochLengths::EpochLengths(const Sampler& order)
    : order_(order), plan_(std::make_unique<EpochPlan>()) {
  prepare_period();
  const SamplerSettings& settings = order.settings();
  if (period_ > 1 && settings.shuffle && settings.layout == BatchLayout::kPadded) prepare_buckets();
}

void EpochLengths::prepare_period() {
  for (const std::uint32_t extra : order_.extra_millionths_)
    if (extra > 0) period_ = std::lcm(period_, kMillion / std::gcd<std::uint64_t>(extra, kMillion));
  const SamplerSettings& settings = order_.settings();
  if (settings.layout == BatchLayout::kPacked && settings.shuffle) period_ = 0;
}

std::vector<EpochLengths::PhaseRun> EpochLengths::joined(const std::vector<PhaseRun>& runs) {
  std::vector<PhaseRun> all;
  for (const PhaseRun& run : runs) {
    const bool follows =
        !all.empty() && all.back().end == run.first && all.back().source == run.source;
    if (follows)
      all.back().end = run.end;
    else
      all.push_back(run);
  }
  return all;
}

// A bucket is a range of lengths, and phases follow the lengths: the phases of its rows of one
// source are neighbours, but for rows that are left out.
void EpochLengths::prepare_buckets() {
  for (std::size_t b = 0; b + 1 < order_.bucket_begins_.size(); ++b) {
    Bucket bucket{.batch_rows = order_.shapes()[b].num_rows,
                  .spills = order_.spills_[b],
                  .num_fixed = 0,
                  .runs = {}};
    for (std::size_t i = order_.bucket_begins_[b]; i < order_.bucket_begins_[b + 1]; ++i) {
      const std::uint32_t row = order_.bucket_rows_[i];
      const std::uint32_t source = order_.rows()[row].source;
      bucket.num_fixed += order_.whole_passes_[source];
      if (const std::uint32_t extra = order_.extra_millionths_[source]; extra > 0)
        bucket.runs.push_back({order_.phase_[row], order_.phase_[row] + 1U, extra, source});
    }
    std::sort(bucket.runs.begin(), bucket.runs.end(), [](const PhaseRun& x, const PhaseRun& y) {
      return std::pair(x.source, x.first) < std::pair(y.source, y.first);
    });
    bucket.runs = joined(bucket.runs);
    num_phase_runs_ += bucket.runs.size() + 1;
    buckets_.push_back(std::move(bucket));
  }
}

// A row comes once more when x·f mod 10^6 < f for x = phase + epoch, which is where ⌊x·f / 10^6⌋
// rises: over neighbours it is a difference of two such quotients. 10^6 is added because x - 1 may
// be below 0.
std::uint64_t EpochLengths::PhaseRun::num_drawn(std::uint64_t epoch) const {
  const auto rises = [&](std::uint64_t end_phase) {
    return (end_phase + epoch % kMillion + kMillion - 1) * extra_millionths / kMillion;
  };
  return rises(end) - rises(first);
}

std::uint64_t EpochLengths::count_by_phases(std::uint64_t epoch) const {
  std::uint64_t num_batches = 0;
  std::uint64_t num_left = 0;
  for (const Bucket& bucket : buckets_) {
    std::uint64_t pool = num_left + bucket.num_fixed;
    for (const PhaseRun& run : bucket.runs) pool += run.num_drawn(epoch);
    num_batches += pool / bucket.batch_rows;
    num_left = pool % bucket.batch_rows;
    if (bucket.spills) continue;
    if (num_left > 0 && !order_.settings().drop_last) ++num_batches;
    num_left = 0;
  }
  return num_batches;
}

std::uint64_t EpochLengths::count(std::uint64_t epoch) {
  if (!buckets_.empty()) {
    num_counted_ += num_phase_runs_;
    return count_by_phases(epoch);
  }
  order_.plan_epoch(epoch, *plan_);
  num_planned_ += plan_->rows.size();
  return plan_->batches.size();
}

void EpochLengths::check_bounds(std::uint64_t epoch) const {
  if (num_planned_ <= kMostPlannedRows && num_counted_ <= kMostCountedRuns) return;
  raise({.code = &kFeedState,
         .promised = "a batch within a bounded number of epochs",
         .found = "epochs of different lengths, still before it at epoch " + grouped(epoch),
         .cure = "go on from a saved state, which names its epoch"});
}

FeedPosition EpochLengths::find(FeedPosition at) {
  check_epoch(at.epoch);
  std::uint64_t num_epochs = 0;
  std::uint64_t num_batches = 0;
  while (true) {
    const std::uint64_t length = count(at.epoch);
    if (at.batch <= length) return at;
    at.batch -= length;
    check_epoch(++at.epoch);
    num_batches += length;
    if (++num_epochs != period_) {
      check_bounds(at.epoch);
      continue;
    }
    if (num_batches == 0) raise({.code = &kFeedEmpty, .found = "no epoch has a full batch"});
    const std::uint64_t num_periods = (at.batch - 1) / num_batches;
    if (num_periods > kEndEpoch / period_) check_epoch(kEndEpoch);
    check_epoch(at.epoch += num_periods * period_);
    at.batch -= num_periods * num_batches;
  }
}

}  // namespace stoker::feed
