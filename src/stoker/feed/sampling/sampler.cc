#include "stoker/feed/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stoker/base/checked.h"
#include "stoker/base/invariant.h"
#include "stoker/base/number_text.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/sampling/bucket_edges.h"
#include "stoker/feed/sampling/shuffle.h"

namespace stoker::feed {
namespace {

constexpr std::uint32_t kTokenStep = 8;
constexpr std::uint32_t kMillion = 1'000'000;
constexpr std::uint32_t kMostPasses = 1'000'000'000;  // of a source over its rows, an epoch

[[noreturn]] void refuse(const ErrorCode& code, std::string promised, std::string found) {
  raise({.code = &code,
         .place = {},
         .promised = std::move(promised),
         .found = std::move(found),
         .action = {},
         .cure = {}});
}

void check_settings(const SamplerSettings& settings) {
  if (settings.batch_multiple == 0 || settings.max_shapes == 0) {
    refuse(kFeedShape, "batch_multiple and max_shapes of at least 1", "0");
  }
  if (settings.batch_frames == 0 && settings.batch_size == 0) {
    refuse(kFeedShape, "batch_frames or batch_size of at least 1", "0 for both");
  }
  for (const double weight : settings.source_weights) {
    if (weight >= 0.0 && weight <= 1000.0) continue;
    refuse(kFeedShape, "a source's weight from 0 to 1000 passes per epoch", std::to_string(weight));
  }
}

}  // namespace

Sampler::Sampler(std::vector<SampledUtterance> rows, SamplerSettings settings)
    : rows_(std::move(rows)), settings_(std::move(settings)) {
  check_settings(settings_);
  if (settings_.static_shapes) settings_.max_shapes = 1;
  prepare_weights();
  if (settings_.layout == BatchLayout::kPacked) {
    packed_ = PackedBins(rows_, settings_);
    shapes_ = {packed_.shape()};
    fill_buckets();
  } else {
    prepare_buckets();
  }
}

std::uint32_t Sampler::most_rows(std::uint32_t num_frames) const {
  const std::uint32_t wanted =
      settings_.batch_size > 0 ? settings_.batch_size : settings_.batch_frames / num_frames;
  const std::uint32_t multiple = settings_.batch_multiple;
  return std::max(multiple, wanted / multiple * multiple);
}

void Sampler::prepare_weights() {
  bool any_fraction = false;
  for (const double weight : settings_.source_weights) {
    if (!(weight <= kMostPasses)) {
      refuse(kFeedShape, "a source's weight of at most " + grouped(kMostPasses), "a larger one");
    }
    const auto millionths = static_cast<std::uint64_t>(std::floor(weight * kMillion + 0.5));
    whole_passes_.push_back(static_cast<std::uint32_t>(millionths / kMillion));
    extra_millionths_.push_back(static_cast<std::uint32_t>(millionths % kMillion));
    any_fraction = any_fraction || extra_millionths_.back() > 0;
  }
  std::uint64_t num_planned = 0;
  for (const SampledUtterance& row : rows_) {
    check_invariant(row.source < whole_passes_.size(), "a row's source has a weight");
    if (!row.is_used) continue;
    num_planned += whole_passes_[row.source] + (extra_millionths_[row.source] > 0 ? 1U : 0U);
  }
  if (num_planned == 0) {
    refuse(kFeedEmpty, "at least one utterance to feed",
           grouped(rows_.size()) + " utterances, all of weight 0 or left out");
  }
  if (num_planned > ~std::uint32_t{0}) {
    refuse(kFeedShape, "at most " + grouped(~std::uint32_t{0}) + " utterances per epoch",
           "weights that ask for " + grouped(num_planned));
  }
  if (!any_fraction) return;
  // Neighbours in length get neighbouring phases, so each epoch draws evenly from every length.
  std::vector<std::uint32_t> by_length(rows_.size());
  std::iota(by_length.begin(), by_length.end(), 0U);
  std::stable_sort(by_length.begin(), by_length.end(), [this](std::uint32_t a, std::uint32_t b) {
    return rows_[a].num_frames < rows_[b].num_frames;
  });
  std::vector<std::uint32_t> next_phase(whole_passes_.size());
  phase_.resize(rows_.size());
  for (const std::uint32_t row : by_length) phase_[row] = next_phase[rows_[row].source]++;
}

std::uint32_t Sampler::num_copies(std::uint32_t row, std::uint64_t epoch) const {
  if (!rows_[row].is_used) return 0;
  const std::uint32_t source = rows_[row].source;
  const std::uint64_t extra = extra_millionths_[source];
  if (extra == 0) return whole_passes_[source];
  const bool comes_again = (phase_[row] + epoch) % kMillion * extra % kMillion < extra;
  return whole_passes_[source] + (comes_again ? 1U : 0U);
}

bool Sampler::ever_comes(std::uint32_t row) const {
  const std::uint32_t source = rows_[row].source;
  return rows_[row].is_used && (whole_passes_[source] > 0 || extra_millionths_[source] > 0);
}

void Sampler::prepare_buckets() {
  const auto is_fractional = [](std::uint32_t millionths) { return millionths > 0; };
  const auto num_fractional = static_cast<std::uint32_t>(
      std::count_if(extra_millionths_.begin(), extra_millionths_.end(), is_fractional));
  LengthCounts lengths;
  std::uint64_t num_epoch_rows = num_fractional;
  for (std::uint32_t row = 0; row < rows_.size(); ++row) {
    if (!ever_comes(row)) continue;
    // A row that epoch 0 does not bring has a class too, so that no bucket is too short for it.
    const std::uint32_t copies = num_copies(row, 0);
    lengths.add(rows_[row].num_frames, copies);
    num_epoch_rows += copies;
  }
  const BucketSearch search{
      .max_shapes = settings_.max_shapes,
      .batch_multiple = settings_.batch_multiple,
      .is_by_size = settings_.batch_size > 0,
      .drop_last = settings_.drop_last,
      .num_fractional = num_fractional,
      .most_rows = [this](std::uint32_t num_frames) { return most_rows(num_frames); }};
  for (const Bucket& bucket : find_buckets(lengths.classes(), search)) {
    shapes_.push_back({bucket.batch_rows, bucket.num_frames, 0});
    spills_.push_back(bucket.spills);
  }
  if (!settings_.shuffle) widen_for_file_order(num_epoch_rows);
  fill_buckets();
  // Leftovers spill upwards, so a bucket must also hold the tokens of every shorter one.
  std::uint32_t most_tokens = 0;
  for (std::size_t bucket = 0; bucket < shapes_.size(); ++bucket) {
    for (std::size_t i = bucket_begins_[bucket]; i < bucket_begins_[bucket + 1]; ++i) {
      most_tokens = std::max(most_tokens, rows_[bucket_rows_[i]].num_tokens);
    }
    shapes_[bucket].num_tokens = round_up(std::max(most_tokens, 1U), kTokenStep);
  }
}

// Rows of all lengths meet in a batch there, so the rows of a bucket say nothing about its batches.
void Sampler::widen_for_file_order(std::uint64_t num_epoch_rows) {
  for (BatchShape& shape : shapes_) {
    shape.num_rows = most_rows(shape.num_frames);
    if (settings_.drop_last || num_epoch_rows >= shape.num_rows) continue;
    const auto all_rows = static_cast<std::uint32_t>(num_epoch_rows);
    shape.num_rows = std::min(shape.num_rows, round_up(all_rows, settings_.batch_multiple));
  }
}

void Sampler::fill_buckets() {
  const auto is_shorter = [](const BatchShape& shape, std::uint32_t num_frames) {
    return shape.num_frames < num_frames;
  };
  const auto bucket_of = [&](const SampledUtterance& row) {
    return static_cast<std::size_t>(
        std::lower_bound(shapes_.begin(), shapes_.end(), row.num_frames, is_shorter) -
        shapes_.begin());
  };
  bucket_begins_.assign(shapes_.size() + 1, 0);
  for (std::uint32_t row = 0; row < rows_.size(); ++row) {
    if (ever_comes(row)) ++bucket_begins_[bucket_of(rows_[row]) + 1];
  }
  std::partial_sum(bucket_begins_.begin(), bucket_begins_.end(), bucket_begins_.begin());
  bucket_rows_.resize(bucket_begins_.back());
  std::vector<std::size_t> next = bucket_begins_;
  for (std::uint32_t row = 0; row < rows_.size(); ++row) {
    if (ever_comes(row)) bucket_rows_[next[bucket_of(rows_[row])]++] = row;
  }
}

void Sampler::plan_epoch(std::uint64_t epoch, EpochPlan& plan) const {
  plan.epoch = epoch;
  plan.rows.clear();
  plan.batches.clear();
  if (settings_.shuffle) {
    plan_shuffled(plan);
  } else {
    plan_in_file_order(plan);
  }
}

void Sampler::plan_shuffled(EpochPlan& plan) const {
  std::size_t pool_begin = 0;  // the leftovers of the shorter buckets are there already
  for (std::size_t bucket = 0; bucket + 1 < bucket_begins_.size(); ++bucket) {
    for (std::size_t i = bucket_begins_[bucket]; i < bucket_begins_[bucket + 1]; ++i) {
      const std::uint32_t row = bucket_rows_[i];
      plan.rows.insert(plan.rows.end(), num_copies(row, plan.epoch), row);
    }
    const std::span<std::uint32_t> pool = std::span(plan.rows).subspan(pool_begin);
    shuffle_rows({settings_.seed, plan.epoch, bucket}, pool);
    if (settings_.layout == BatchLayout::kPacked) continue;
    const std::uint32_t batch_rows = shapes_[bucket].num_rows;
    for (std::size_t left = pool.size(); left >= batch_rows; left -= batch_rows) {
      plan.batches.push_back(
          {static_cast<std::uint32_t>(bucket), static_cast<std::uint32_t>(pool_begin), batch_rows});
      pool_begin += batch_rows;
    }
    if (spills_[bucket]) continue;
    const std::size_t num_left = plan.rows.size() - pool_begin;
    if (num_left > 0 && !settings_.drop_last) {
      plan.batches.push_back({static_cast<std::uint32_t>(bucket),
                              static_cast<std::uint32_t>(pool_begin),
                              static_cast<std::uint32_t>(num_left)});
    }
    pool_begin = plan.rows.size();
  }
  if (settings_.layout == BatchLayout::kPacked) {
    packed_.pack(rows_, plan);
    return;
  }
  shuffle_batches({settings_.seed, plan.epoch, 0}, shapes_, plan.batches);
}

void Sampler::plan_in_file_order(EpochPlan& plan) const {
  for (std::uint32_t row = 0; row < rows_.size(); ++row) {
    plan.rows.insert(plan.rows.end(), num_copies(row, plan.epoch), row);
  }
  if (settings_.layout == BatchLayout::kPacked) {
    packed_.pack(rows_, plan);
    return;
  }
  // A batch takes rows as long as the shape that holds them all still has room for one more.
  PlannedBatch batch;
  for (std::uint32_t i = 0; i < plan.rows.size(); ++i) {
    std::uint32_t shape = batch.shape_index;
    while (shapes_[shape].num_frames < rows_[plan.rows[i]].num_frames ||
           shapes_[shape].num_tokens < rows_[plan.rows[i]].num_tokens) {
      ++shape;
    }
    if (batch.num_rows + 1 > shapes_[shape].num_rows) {
      plan.batches.push_back(batch);
      batch = {0, i--, 0};
      continue;
    }
    batch.shape_index = shape;
    ++batch.num_rows;
  }
  const bool is_full = batch.num_rows == shapes_[batch.shape_index].num_rows;
  if (batch.num_rows > 0 && (is_full || !settings_.drop_last)) plan.batches.push_back(batch);
}

std::size_t Sampler::max_batch_rows() const {
  if (settings_.layout == BatchLayout::kPacked) {
    return std::size_t{shapes_[0].num_rows} * packed_.max_rows_per_bin();
  }
  std::size_t most = 0;
  for (const BatchShape& shape : shapes_) most = std::max<std::size_t>(most, shape.num_rows);
  return most;
}

double Sampler::padding_share(const EpochPlan& plan) const {
  std::uint64_t all_frames = 0;
  std::uint64_t true_frames = 0;
  for (const PlannedBatch& batch : plan.batches) {
    const BatchShape& shape = shapes_[batch.shape_index];
    all_frames += std::uint64_t{shape.num_rows} * shape.num_frames;
    for (const std::uint32_t row : plan.view_rows(batch)) true_frames += rows_[row].num_frames;
  }
  if (all_frames == 0) return 0.0;
  return static_cast<double>(all_frames - true_frames) / static_cast<double>(all_frames);
}

}  // namespace stoker::feed
