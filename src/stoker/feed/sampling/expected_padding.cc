#include "stoker/feed/sampling/expected_padding.h"

#include <algorithm>

#include "stoker/feed/sampling/sampler.h"

namespace stoker::feed {
namespace {

constexpr std::size_t kMostCostly = 5;
constexpr double kCostlyShare = 0.005;
constexpr std::uint64_t kTimesOrdinary = 4;  // of the median length

struct Planned {
  double all_frames = 0;
  double padded_frames = 0;
  std::size_t num_shapes = 0;
  std::size_t num_batches = 0;
};

Planned planned(const std::vector<SampledUtterance>& rows, const SamplerSettings& settings) {
  const Sampler order(rows, settings);
  EpochPlan plan;
  order.plan_epoch(0, plan);
  Planned found{.all_frames = 0,
                .padded_frames = 0,
                .num_shapes = order.shapes().size(),
                .num_batches = plan.batches.size()};
  for (const PlannedBatch& batch : plan.batches) {
    const BatchShape& shape = order.shapes()[batch.shape_index];
    found.all_frames += static_cast<double>(shape.num_rows) * shape.num_frames;
  }
  found.padded_frames = order.padding_share(plan) * found.all_frames;
  return found;
}

// The longest rows that come at all, as long as they are far from ordinary, and one more.
std::vector<std::uint32_t> longest_rows(const std::vector<SampledUtterance>& rows,
                                        const SamplerSettings& settings) {
  std::vector<std::uint32_t> used;
  for (std::uint32_t row = 0; row < rows.size(); ++row)
    if (rows[row].is_used && settings.source_weights[rows[row].source] > 0.0) used.push_back(row);
  const auto num_kept = static_cast<std::ptrdiff_t>(std::min(used.size(), kMostCostly + 1));
  const auto is_longer = [&](std::uint32_t a, std::uint32_t b) {
    if (rows[a].num_frames != rows[b].num_frames) return rows[a].num_frames > rows[b].num_frames;
    return a < b;
  };
  std::partial_sort(used.begin(), used.begin() + num_kept, used.end(), is_longer);
  const auto middle = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2);
  if (middle >= used.begin() + num_kept)
    std::nth_element(used.begin() + num_kept, middle, used.end(), is_longer);
  const std::uint64_t ordinary = std::uint64_t{rows[*middle].num_frames} * kTimesOrdinary;
  std::size_t num_long = 0;
  while (num_long < kMostCostly && num_long + 1 < used.size() &&
         rows[used[num_long]].num_frames > ordinary)
    ++num_long;
  used.resize(num_long + 1);
  return used;
}

}  // namespace

ExpectedPadding expect_padding(std::vector<SampledUtterance> rows,
                               const SamplerSettings& settings) {
  const Planned whole = planned(rows, settings);
  ExpectedPadding expected;
  expected.num_shapes = whole.num_shapes;
  expected.num_batches = whole.num_batches;
  if (whole.all_frames <= 0.0) return expected;
  expected.share = whole.padded_frames / whole.all_frames;
  const std::vector<std::uint32_t> longest = longest_rows(rows, settings);
  double padded_frames = whole.padded_frames;
  std::size_t num_costly = 0;
  double saved_share = 0;
  for (std::size_t i = 0; i + 1 < longest.size(); ++i) {
    SampledUtterance& row = rows[longest[i]];
    row.is_used = false;
    const Planned without = planned(rows, settings);
    const double saved = (padded_frames - without.padded_frames) / whole.all_frames;
    padded_frames = without.padded_frames;
    saved_share += saved;
    const bool is_above = settings.batch_size == 0 && row.num_frames > settings.batch_frames;
    expected.costly.push_back({longest[i], row.num_frames, std::max(saved, 0.0), is_above});
    // Of two that share a batch the first alone saves nothing: what counts is the sum.
    if (is_above || (saved >= kCostlyShare && saved_share >= kCostlyShare)) num_costly = i + 1;
  }
  expected.costly.resize(num_costly);
  if (num_costly > 0) {
    const std::uint32_t limit = rows[longest[num_costly]].num_frames;
    if (limit < expected.costly.back().num_frames) expected.max_mel_frames = limit;
  }
  return expected;
}

}  // namespace stoker::feed
