// Puts a diagnosis together: shares, causes in their order, verdict, cures.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/observe/diagnose/findings.h"
#include "stoker/observe/diagnose/thresholds.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

using feed::RecordStage;

constexpr double kSPerNs = 1e-9;

// Candidates explain the same waiting: the first takes what it would give back, the next one what
// is left of it.
std::vector<NamedCause> share_out(std::vector<Candidate> candidates, double stall) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return a.weight * a.named.regained > b.weight * b.named.regained;
                   });
  std::vector<NamedCause> causes;
  double left = stall, most = stall;
  for (Candidate& candidate : candidates) {
    candidate.named.share = most = std::min({candidate.named.regained, left, most});
    left -= candidate.named.share;
    causes.push_back(std::move(candidate.named));
  }
  return causes;
}

bool has_larger_share(const NamedCause& a, const NamedCause& b) { return a.share > b.share; }

// What keeps feed and consumer alike from their work, as a quota does, is one cause.
void join_same(std::vector<NamedCause>& feed, std::vector<NamedCause>& consumer) {
  const std::size_t before = consumer.size();
  for (NamedCause& own : feed) {
    const auto same = std::find_if(consumer.begin(), consumer.end(),
                                   [&](const NamedCause& each) { return each.cause == own.cause; });
    if (same == consumer.end()) continue;
    own.share += same->share;
    own.regained += same->regained;
    own.evidence.insert(own.evidence.end(), same->evidence.begin(), same->evidence.end());
    consumer.erase(same);
  }
  if (consumer.size() < before) std::stable_sort(feed.begin(), feed.end(), has_larger_share);
}

// What the consumer waits for on the GPU, beside what it waits for on the host.
void join_wait_in_step(const std::optional<NamedCause>& in_step, std::vector<NamedCause>& feed) {
  if (!in_step) return;
  const auto same = std::find_if(feed.begin(), feed.end(), [&](const NamedCause& each) {
    return each.cause == in_step->cause;
  });
  if (same == feed.end()) {
    feed.push_back(*in_step);
  } else {
    same->share += in_step->share;
    same->regained += in_step->regained;
    same->evidence.insert(same->evidence.begin(), in_step->evidence.begin(),
                          in_step->evidence.end());
  }
  std::stable_sort(feed.begin(), feed.end(), has_larger_share);
}

// Feed and consumer each in their own order; the one that explains more comes first.
std::vector<NamedCause> merge(std::vector<NamedCause> feed, std::vector<NamedCause> consumer) {
  join_same(feed, consumer);
  std::stable_sort(consumer.begin(), consumer.end(), has_larger_share);
  std::vector<NamedCause> merged;
  std::size_t next_feed = 0, next_consumer = 0;
  while (next_feed < feed.size() || next_consumer < consumer.size()) {
    const bool is_feed =
        next_consumer == consumer.size() ||
        (next_feed < feed.size() && feed[next_feed].share >= consumer[next_consumer].share);
    merged.push_back(std::move(is_feed ? feed[next_feed++] : consumer[next_consumer++]));
  }
  return merged;
}

std::vector<StageLine> stage_lines(const SupplyModel& model) {
  std::vector<StageLine> lines;
  for (std::size_t i = 0; i < feed::kNumRecordStages; ++i) {
    const auto stage = static_cast<RecordStage>(i);
    const double stage_s = model.stage_s(stage);
    if (stage_s <= 0) continue;
    const double worker_s = model.worker_s();
    const bool is_worker = stage < RecordStage::kWaitSlot;
    lines.push_back({feed::name_of(stage), 1e3 * stage_s, 1e3 * model.blocked_s(stage),
                     is_worker && worker_s > 0 ? stage_s / worker_s : 0});
  }
  return lines;
}

void put_figures(const Evidence& evidence, const SupplyModel& model, Diagnosis& out) {
  std::vector<double> intervals_s;
  double rows = 0;
  for (const BatchWork& work : model.batches()) {
    const feed::BatchRecord& record = evidence.watch.records[work.record];
    const feed::BatchRecord& after = evidence.watch.records[work.record + 1];
    intervals_s.push_back(static_cast<double>(after.handed_ns - record.handed_ns) * kSPerNs);
    rows += record.num_rows;
  }
  const IntervalStatistics intervals = summarize_intervals(intervals_s);
  out.num_batches = evidence.watch.records.size();
  out.interval_ms = intervals.mean_ms;
  out.interval_cv = intervals.cv();
  out.batches_per_s = intervals.mean_ms > 0 ? 1e3 / intervals.mean_ms : 0;
  out.clips_per_s =
      intervals_s.empty() ? 0 : out.batches_per_s * rows / static_cast<double>(intervals_s.size());
  out.supply_batches_per_s = model.is_empty() ? 0 : model.supply_batches_per_s();
  out.padding_share = padding_share(evidence);
}

double sum_of(const std::vector<NamedCause>& causes) {
  double sum = 0;
  for (const NamedCause& cause : causes) sum += cause.share;
  return sum;
}

LoopVerdict verdict_of(const Evidence& evidence, double stall, double consumer_loss) {
  if (!evidence.watch.is_paced) return LoopVerdict::kSupply;
  const LoopVerdict verdict = verdict_of_stall(stall);
  if (verdict == LoopVerdict::kStarved) return verdict;
  return consumer_loss > kHostWorkShare ? LoopVerdict::kConsumer : verdict;
}

// How far the first cause is ahead of the second, and how much was seen.
double confidence_of(const Diagnosis& diagnosis) {
  const double seen = std::min(1.0, static_cast<double>(diagnosis.num_batches) / kFewBatches);
  if (diagnosis.causes.empty()) return 0.95 * seen;
  const double first = diagnosis.causes[0].share;
  const double second = diagnosis.causes.size() > 1 ? diagnosis.causes[1].share : 0;
  return first > 0 ? seen * (0.5 + 0.45 * (first - second) / first) : 0;
}

}  // namespace

Diagnosis judge(const Evidence& evidence) {
  const SupplyModel model(evidence);
  Diagnosis out;
  put_figures(evidence, model, out);
  out.runs = evidence.runs;
  if (model.is_empty()) {
    out.sentence = verdict_sentence(out.verdict, 0, 0);
    return out;
  }
  TimeShares shares = shares_of(evidence, model);
  const double waited_on_host = shares.stall;
  const std::optional<NamedCause> in_step = find_wait_in_step(evidence, model, shares);
  out.stall_share = shares.stall;
  std::vector<Candidate> candidates = feed_candidates(evidence, model, shares);
  const bool is_only_start =
      candidates.size() == 1 && candidates.front().named.cause == Cause::kStartUp;
  std::vector<NamedCause> feed =
      share_out(std::move(candidates), is_only_start ? shares.start : waited_on_host);
  join_wait_in_step(in_step, feed);
  std::vector<NamedCause> consumer = consumer_causes(evidence, model, shares);
  out.verdict = verdict_of(evidence, shares.stall, sum_of(consumer));
  out.causes = merge(std::move(feed), std::move(consumer));
  // A healthy loop has nothing to cure: what it loses is below what anybody sees.
  if (out.verdict == LoopVerdict::kHealthy && !is_only_start) out.causes.clear();
  out.sentence = verdict_sentence(out.verdict, shares.stall, out.supply_ratio());
  if (!out.causes.empty())
    out.sentence.replace(out.sentence.size() - 1, 1,
                         fmt::format(": {}.", info_of(out.causes.front().cause).title));
  out.cures = find_cures(evidence, model, out.causes);
  out.gaps = find_gaps(evidence);
  out.oscillation = find_oscillation(evidence);
  out.stages = stage_lines(model);
  out.confidence = confidence_of(out);
  if (!evidence.watch.machine) out.confidence *= kRecordsAlone;
  return out;
}

}  // namespace stoker::observe
