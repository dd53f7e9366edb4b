#include "stoker/feed/sampling/shuffle.h"

#include <algorithm>
#include <utility>

#include "stoker/base/philox.h"

namespace stoker::feed {
namespace {

constexpr std::size_t kFewestBatchesToRedraw = 16;
constexpr std::uint64_t kMaxAttempts = 64;
constexpr double kMaxSquaredCorrelation = 0.0025;  // 0.05 squared

template <class T>
void fisher_yates(KeyedDraws& draws, std::span<T> items) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[static_cast<std::size_t>(draws.next_below(i))]);
  }
}

// Square of Pearson's correlation between the lengths of batches k and k + 1. Sums are exact in
// 64 bits (lengths in steps of 8); only the last few operations round, the same on every machine.
double squared_lag_correlation(const std::vector<BatchShape>& shapes,
                               const std::vector<PlannedBatch>& batches) {
  const auto length = [&](std::size_t i) {
    return std::uint64_t{shapes[batches[i].shape_index].num_frames / 8};
  };
  const std::size_t pairs = batches.size() - 1;
  std::uint64_t sum_x = 0, sum_y = 0, sum_xx = 0, sum_yy = 0, sum_xy = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::uint64_t x = length(i);
    const std::uint64_t y = length(i + 1);
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_yy += y * y;
    sum_xy += x * y;
  }
  const auto n = static_cast<double>(pairs);
  const auto mean_x = static_cast<double>(sum_x) / n;
  const auto mean_y = static_cast<double>(sum_y) / n;
  const double covariance = static_cast<double>(sum_xy) / n - mean_x * mean_y;
  const double variance_x = static_cast<double>(sum_xx) / n - mean_x * mean_x;
  const double variance_y = static_cast<double>(sum_yy) / n - mean_y * mean_y;
  if (variance_x <= 0.0 || variance_y <= 0.0) return 0.0;
  return covariance * covariance / (variance_x * variance_y);
}

}  // namespace

void shuffle_rows(const ShuffleKey& key, std::span<std::uint32_t> rows) {
  KeyedDraws draws({key.seed, "order/rows", key.epoch, key.item});
  fisher_yates(draws, rows);
}

void shuffle_batches(const ShuffleKey& key, const std::vector<BatchShape>& shapes,
                     std::vector<PlannedBatch>& batches) {
  const std::uint64_t attempts = batches.size() < kFewestBatchesToRedraw ? 1 : kMaxAttempts;
  std::uint64_t best_attempt = 0;
  double least = 2.0;
  // Every attempt starts from the same order, so each is a function of its number alone.
  const std::vector<PlannedBatch> start = batches;
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
    KeyedDraws draws({key.seed, "order/batches", key.epoch, attempt});
    batches = start;
    fisher_yates(draws, std::span(batches));
    if (attempts == 1) return;
    const double correlation = squared_lag_correlation(shapes, batches);
    if (correlation <= kMaxSquaredCorrelation) return;
    if (correlation < least) {
      least = correlation;
      best_attempt = attempt;
    }
  }
  batches = start;
  KeyedDraws draws({key.seed, "order/batches", key.epoch, best_attempt});
  fisher_yates(draws, std::span(batches));
}

}  // namespace stoker::feed
