#include "stoker/observe/live/record_figures.h"

#include <algorithm>
#include <utility>

#include "stoker/observe/diagnose/diagnose.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

using feed::BatchRecord;
using feed::RecordStage;

constexpr double kSPerNs = 1e-9;
// A rate of fewer batches than this jumps between two looks, so it is taken over more time.
constexpr std::size_t kFewBatches = 5;
constexpr std::int64_t kLongerNs = 5'000'000'000;
constexpr std::int64_t kJudgeEveryNs = 1'000'000'000;

double positive_s(std::int64_t span_ns) {
  return static_cast<double>(std::max<std::int64_t>(0, span_ns)) * kSPerNs;
}

bool is_waiting(std::size_t stage) {
  return stage == static_cast<std::size_t>(RecordStage::kWaitSlot) ||
         stage == static_cast<std::size_t>(RecordStage::kWaitConsumer);
}

struct Span {
  std::int64_t from_ns = 0, to_ns = 0;
};

void put_rates(const std::deque<BatchRecord>& records, const Span& span, LiveFeed& into) {
  std::uint64_t batches = 0, clips = 0, frames = 0;
  for (const BatchRecord& record : records) {
    if (record.handed_ns <= span.from_ns || record.handed_ns > span.to_ns) continue;
    ++batches;
    clips += record.num_rows;
    frames += record.num_frames;
  }
  const double passed_s = positive_s(span.to_ns - span.from_ns);
  into.batches_per_s = static_cast<double>(batches) / passed_s;
  into.clips_per_s = static_cast<double>(clips) / passed_s;
  into.frames_per_s = static_cast<double>(frames) / passed_s;
}

// The part of the span in which the consumer is known to have waited.
std::optional<double> stall_in(const std::deque<BatchRecord>& records, const Span& span) {
  double waited_s = 0;
  bool is_seen = false;
  for (const BatchRecord& record : records) {
    if (record.handed_ns <= span.from_ns || record.asked_ns > span.to_ns) continue;
    is_seen = true;
    waited_s += positive_s(std::min(record.handed_ns, span.to_ns) -
                           std::max(record.asked_ns, span.from_ns));
  }
  if (!is_seen) return std::nullopt;
  return std::min(1.0, waited_s / positive_s(span.to_ns - span.from_ns));
}

// Batches whose records were lost count like the others.
void put_growth(const FeedTotals& before, const FeedTotals& after, double passed_s,
                LiveFeed& into) {
  const auto batches = static_cast<double>(after.batches - before.batches);
  const double seen = batches - static_cast<double>(after.records_lost - before.records_lost);
  if (seen <= 0) return;
  const double per_s = batches / seen / passed_s;
  into.batches_per_s = batches / passed_s;
  into.clips_per_s = static_cast<double>(after.clips - before.clips) * per_s;
  into.frames_per_s = static_cast<double>(after.frames - before.frames) * per_s;
  into.stall_share = std::min(1.0, (after.wait_s - before.wait_s) * per_s);
}

void put_stages(const std::deque<BatchRecord>& records, LiveFeed& into) {
  double all_s = 0, workers_s = 0;
  for (const BatchRecord& record : records) {
    for (std::size_t i = 0; i < feed::kNumRecordStages; ++i) {
      if (is_waiting(i)) continue;
      const double busy_s = positive_s(record.stages[i].busy_ns);
      into.stage_shares[i] += busy_s;
      all_s += busy_s;
      if (i < static_cast<std::size_t>(RecordStage::kWaitSlot)) workers_s += busy_s;
    }
  }
  for (double& share : into.stage_shares) share = all_s > 0 ? share / all_s : 0;
  const double span_s = positive_s(records.back().handed_ns - records.front().handed_ns);
  const double offered_s = span_s * into.num_workers;
  into.worker_busy_share = offered_s > 0 ? std::min(1.0, workers_s / offered_s) : 0;
}

}  // namespace

void RecordFigures::begin_feed(std::uint64_t num_before) {
  recent_.clear();
  gaps_.clear();
  totals_.batches += num_before;
  is_first_ = true;
  first_asked_ns_ = judged_ns_ = 0;
  feed_wait_s_ = 0;
  num_new_ = 0;
  verdict_ = LoopVerdict::kUnknown;
  verdict_sentence_ = observe::verdict_sentence(verdict_, 0, 0);
}

void RecordFigures::add(const std::vector<BatchRecord>& records, std::uint64_t num_lost) {
  totals_.records_lost += num_lost;
  totals_.batches += records.size() + num_lost;
  for (const BatchRecord& record : records) count(record);
}

void RecordFigures::count(const BatchRecord& record) {
  totals_.clips += record.num_rows;
  totals_.frames += record.num_frames;
  totals_.padded_frames += record.padded_frames;
  totals_.bytes_read += record.bytes_read;
  totals_.cache_hits += record.num_cache_hits;
  totals_.cache_misses += record.num_cache_misses;
  totals_.wait_s += positive_s(record.wait_ns());
  for (std::size_t i = 0; i < totals_.stage_s.size(); ++i)
    totals_.stage_s[i] += positive_s(record.stages[i].busy_ns);
  for (std::size_t i = 0; i < totals_.work_s.size(); ++i)
    totals_.work_s[i] += positive_s(record.works_ns[i]);
  if (!recent_.empty() && recent_.back().number + 1 == record.number)
    totals_.step_s += positive_s(record.asked_ns - recent_.back().handed_ns);
  if (first_asked_ns_ == 0) first_asked_ns_ = record.asked_ns;
  feed_wait_s_ += positive_s(record.wait_ns());
  recent_.push_back(record);
  if (recent_.size() > kMostKept) recent_.pop_front();
  ++num_new_;
}

void RecordFigures::put(std::chrono::nanoseconds from, std::chrono::nanoseconds now,
                        LiveFeed& into) {
  into.totals = totals_;
  into.verdict_sentence = verdict_sentence_;
  if (recent_.empty()) return;
  into.epoch = recent_.back().epoch;
  into.batch = recent_.back().batch;
  put_interval(from.count(), now.count(), into);
  put_recent(into);
  if (num_new_ > 0 && (judged_ns_ == 0 || now.count() - judged_ns_ >= kJudgeEveryNs)) {
    judge_recent();
    judged_ns_ = now.count();
    num_new_ = 0;
  }
  into.verdict = verdict_;
  into.verdict_sentence = verdict_sentence_;
  for (const TimedGap& timed : gaps_) {
    into.gaps.push_back(timed.gap);
    into.gaps.back().ago_s = positive_s(now.count() - timed.at_ns);
  }
}

void RecordFigures::put_interval(std::int64_t from_ns, std::int64_t now_ns, LiveFeed& into) {
  const BatchRecord& last = recent_.back();
  into.since_batch_s = positive_s(now_ns - last.handed_ns);
  const double since_first_s = positive_s(last.handed_ns - first_asked_ns_);
  if (since_first_s > 0) into.stall_share_total = std::min(1.0, feed_wait_s_ / since_first_s);
  const FeedTotals before = std::exchange(shown_, totals_);
  const std::uint64_t num_batches = totals_.batches - before.batches;
  const double passed_s = positive_s(now_ns - from_ns);
  if (!is_first_ && num_batches >= kFewBatches && passed_s > 0) {
    put_growth(before, totals_, passed_s, into);
    return;
  }
  // What was handed out before the first look did not happen since it; the ring may be short, too.
  from_ns = std::max(std::min(from_ns, now_ns - kLongerNs), first_asked_ns_);
  if (recent_.size() == kMostKept) from_ns = std::max(from_ns, recent_.front().handed_ns);
  is_first_ = false;
  if (from_ns >= now_ns) return;
  put_rates(recent_, {from_ns, now_ns}, into);
  into.stall_share = stall_in(recent_, {from_ns, now_ns});
}

void RecordFigures::put_recent(LiveFeed& into) const {
  const BatchRecord& last = recent_.back();
  into.num_ready = last.num_ready;
  into.num_workers = last.num_workers;
  into.num_held = last.num_held;
  put_stages(recent_, into);
  std::uint64_t frames = 0, padded = 0;
  std::vector<double> intervals_s, steps_s;
  for (std::size_t i = 0; i < recent_.size(); ++i) {
    into.most_ready = std::max(into.most_ready, recent_[i].num_ready);
    frames += recent_[i].num_frames;
    padded += recent_[i].padded_frames;
    if (i == 0) continue;
    intervals_s.push_back(positive_s(recent_[i].handed_ns - recent_[i - 1].handed_ns));
    steps_s.push_back(positive_s(recent_[i].asked_ns - recent_[i - 1].handed_ns));
  }
  into.padding_share =
      padded > 0 ? 1 - static_cast<double>(frames) / static_cast<double>(padded) : 0;
  const IntervalStatistics intervals = summarize_intervals(intervals_s);
  into.interval_ms = intervals.mean_ms;
  into.interval_cv = intervals.cv();
  into.step_ms = 1e3 * mean_of(steps_s);
}

void RecordFigures::judge_recent() {
  const std::int64_t first_ns = recent_.front().handed_ns;
  const Diagnosis diagnosis =
      diagnose_records(std::vector<BatchRecord>(recent_.begin(), recent_.end())).diagnosis;
  verdict_ = diagnosis.verdict;
  verdict_sentence_ = diagnosis.sentence;
  gaps_.clear();
  for (const Gap& gap : diagnosis.gaps)
    gaps_.push_back({first_ns + static_cast<std::int64_t>(gap.at_s / kSPerNs),
                     {.length_s = gap.length_s,
                      .is_consumer = gap.is_consumer,
                      .stage = gap.stage,
                      .file = gap.file}});
  std::sort(gaps_.begin(), gaps_.end(),
            [](const TimedGap& a, const TimedGap& b) { return a.at_ns > b.at_ns; });
}

}  // namespace stoker::observe
