// Whether the time between batches repeats, with which period, and what else has that period.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stoker/observe/diagnose/diagnosis.h"
#include "stoker/observe/diagnose/thresholds.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

using feed::BatchRecord;

constexpr double kSPerNs = 1e-9;

double correlation(std::span<const double> a, std::span<const double> b) {
  const auto count = static_cast<double>(a.size());
  if (a.empty()) return 0;
  double mean_a = 0, mean_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) mean_a += a[i] / count, mean_b += b[i] / count;
  double both = 0, square_a = 0, square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean_a) * (b[i] - mean_b);
    square_a += (a[i] - mean_a) * (a[i] - mean_a);
    square_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return square_a > 0 && square_b > 0 ? both / std::sqrt(square_a * square_b) : 0;
}

double at_lag(const std::vector<double>& values, std::size_t lag) {
  const std::span<const double> all(values);
  return correlation(all.first(all.size() - lag), all.subspan(lag));
}

// The shortest lag that correlates nearly as well as the best; 0: none does enough.
std::size_t period_of(const std::vector<double>& values, double& strength) {
  const std::size_t most = std::min(kMostPeriod, values.size() / kLeastPeriods);
  std::vector<double> correlations(most + 1, 0.0);
  double best = 0;
  for (std::size_t lag = 2; lag <= most; ++lag) {
    correlations[lag] = at_lag(values, lag);
    best = std::max(best, correlations[lag]);
  }
  const double least = std::max(
      kLeastCorrelation, kCorrelationDeviations / std::sqrt(static_cast<double>(values.size())));
  if (best < least) return 0;
  for (std::size_t lag = 2; lag <= most; ++lag) {
    if (correlations[lag] < kHarmonicSlack * best) continue;
    strength = correlations[lag];
    return lag;
  }
  return 0;
}

// A pattern has been seen three times at least, so the two longest pauses are no more than the
// third.
std::vector<double> without_single_pauses(std::vector<double> values) {
  std::vector<double> sorted = values;
  std::nth_element(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<>());
  for (double& value : values) value = std::min(value, sorted[2]);
  return values;
}

// What repeats does so again after two periods; chance does not.
bool repeats_again(const std::vector<double>& values, std::size_t period, double strength) {
  return values.size() < 3 * period || at_lag(values, 2 * period) > 0.5 * strength;
}

// Slow drift is no pattern: a neighbour's lag must be clearly lower than the period's.
bool is_drift(const std::vector<double>& values, double strength) {
  return at_lag(values, 1) > 0.9 * strength;
}

std::vector<double> series(const std::vector<BatchRecord>& records,
                           const std::function<double(const BatchRecord&)>& value) {
  std::vector<double> values;
  for (std::size_t i = 1; i < records.size(); ++i) values.push_back(value(records[i]));
  return values;
}

// Each value replaced by the mean of its group: what the group alone explains. A watch has hundreds
// of thousands of batches, of a few groups.
std::vector<double> group_means(const std::vector<double>& values,
                                const std::vector<double>& groups) {
  struct Group {
    double sum = 0, count = 0;
  };
  std::map<double, Group> known;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Group& own = known[groups[i]];
    own.sum += values[i], ++own.count;
  }
  std::vector<double> means(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Group& own = known[groups[i]];
    means[i] = own.sum / own.count;
  }
  return means;
}

struct Suspect {
  std::string text;
  double correlation = 0;
};

void suspect(std::vector<Suspect>& suspects, std::string text, double value) {
  suspects.push_back({std::move(text), value});
}

void suspect_consumer(const std::vector<BatchRecord>& records, const std::vector<double>& intervals,
                      std::vector<Suspect>& suspects) {
  for (std::size_t k = 0; k < feed::kNumConsumerWorks; ++k) {
    const std::vector<double> works = series(
        records, [k](const BatchRecord& each) { return static_cast<double>(each.works_ns[k]); });
    suspect(suspects,
            fmt::format("{} of the consumer", feed::name_of(static_cast<feed::ConsumerWork>(k))),
            correlation(works, intervals));
  }
  std::vector<double> own;
  for (std::size_t i = 1; i < records.size(); ++i)
    own.push_back(static_cast<double>(records[i].asked_ns - records[i - 1].handed_ns));
  // Weaker than a work that has a name.
  suspect(suspects, "the consumer's own step", 0.98 * correlation(own, intervals));
}

void suspect_feed(const std::vector<BatchRecord>& records, const std::vector<double>& intervals,
                  const Evidence& evidence, std::size_t period, std::vector<Suspect>& suspects) {
  const std::vector<double> waits =
      series(records, [](const BatchRecord& each) { return static_cast<double>(each.wait_ns()); });
  const double by_wait = correlation(waits, intervals);
  const auto is_first =
      series(records, [](const BatchRecord& each) { return each.batch == 0 ? 1.0 : 0.0; });
  suspect(suspects, "the end of an epoch", correlation(is_first, intervals));
  for (std::size_t stage = 0; stage < feed::kNumRecordStages - 1; ++stage) {
    const std::vector<double> busy = series(records, [stage](const BatchRecord& each) {
      return static_cast<double>(each.stages[stage].busy_ns);
    });
    suspect(suspects,
            fmt::format("{} of the feed", feed::name_of(static_cast<feed::RecordStage>(stage))),
            std::min(by_wait, correlation(busy, intervals)));
  }
  const auto shapes =
      series(records, [](const BatchRecord& each) { return static_cast<double>(each.shape); });
  suspect(suspects, "the change of the batch's shape",
          0.95 * correlation(group_means(intervals, shapes), intervals));
  const auto workers =
      series(records, [](const BatchRecord& each) { return static_cast<double>(each.worker); });
  suspect(suspects, fmt::format("the turn of the {} workers", evidence.setup.num_workers),
          std::min(by_wait, 0.95 * correlation(group_means(intervals, workers), intervals)));
  suspect(suspects, "waiting for the feed", 0.8 * by_wait);
  if (period == evidence.setup.num_workers)
    suspect(suspects, fmt::format("the turn of the {} workers", period), 0.9 * by_wait);
}

std::string what_repeats(const Evidence& evidence, const std::vector<BatchRecord>& records,
                         const std::vector<double>& intervals, std::size_t period) {
  std::vector<Suspect> suspects;
  suspect_consumer(records, intervals, suspects);
  suspect_feed(records, intervals, evidence, period, suspects);
  const auto most = std::max_element(
      suspects.begin(), suspects.end(),
      [](const Suspect& a, const Suspect& b) { return a.correlation < b.correlation; });
  return most->correlation >= kLeastCorrelation ? most->text
                                                : "nothing in this process: look for a neighbour";
}

}  // namespace

Oscillation find_oscillation(const Evidence& evidence) {
  const std::size_t first = evidence.watch.has_start
                                ? std::min<std::size_t>(kStartBatches + evidence.setup.depth,
                                                        evidence.watch.records.size() / 4)
                                : 0;
  const std::vector<BatchRecord> records(
      evidence.watch.records.begin() + static_cast<std::ptrdiff_t>(first),
      evidence.watch.records.end());
  Oscillation found;
  if (records.size() < kFewBatches) return found;
  std::vector<double> intervals;
  for (std::size_t i = 1; i < records.size(); ++i)
    intervals.push_back(static_cast<double>(records[i].handed_ns - records[i - 1].handed_ns) *
                        kSPerNs);
  intervals = without_single_pauses(std::move(intervals));
  if (summarize_intervals(intervals).cv() < kHighVariation) return found;
  double strength = 0;
  const std::size_t period = period_of(intervals, strength);
  if (period == 0 || is_drift(intervals, strength)) return found;
  if (!repeats_again(intervals, period, strength)) return found;
  found.is_present = true;
  found.period_batches = period;
  found.period_s = static_cast<double>(period) * mean_of(intervals);
  found.strength = strength;
  found.what = what_repeats(evidence, records, intervals, period);
  return found;
}

}  // namespace stoker::observe
