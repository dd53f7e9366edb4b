// The longest gaps of a run, and which stage, file or work of the consumer made each.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/number_text.h"
#include "stoker/observe/diagnose/diagnosis.h"
#include "stoker/observe/diagnose/thresholds.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

using feed::BatchRecord;
using feed::RecordStage;

constexpr double kSPerNs = 1e-9;

struct Interval {
  std::size_t record = 0;  // the batch that ended it
  double length_s = 0, wait_s = 0;
};

std::vector<Interval> intervals_of(const std::vector<BatchRecord>& records) {
  std::vector<Interval> intervals;
  for (std::size_t i = 1; i < records.size(); ++i)
    intervals.push_back(
        {i, static_cast<double>(records[i].handed_ns - records[i - 1].handed_ns) * kSPerNs,
         static_cast<double>(records[i].wait_ns()) * kSPerNs});
  return intervals;
}

std::int64_t fill_begin_ns(const BatchRecord& record) {
  std::int64_t begin_ns = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(RecordStage::kWaitSlot); ++i) {
    const std::int64_t at_ns = record.stages[i].begin_ns;
    if (at_ns > 0 && (begin_ns == 0 || at_ns < begin_ns)) begin_ns = at_ns;
  }
  return begin_ns;
}

// What kept the batch from being there: itself, or the one that its worker filled before it.
const BatchRecord& culprit_of(const std::vector<BatchRecord>& records, std::size_t late) {
  const BatchRecord& record = records[late];
  const std::int64_t begin_ns = fill_begin_ns(record);
  if (begin_ns <= record.asked_ns + record.wait_ns() / 2) return record;
  for (std::size_t i = late; i-- > 0;) {
    if (records[i].worker == record.worker && records[i].slowest_ns > record.slowest_ns)
      return records[i];
    if (records[i].worker == record.worker) break;
  }
  return record;
}

struct LongestStage {
  RecordStage stage = RecordStage::kPlan;
  std::int64_t busy_ns = 0;
};

LongestStage longest_stage(const BatchRecord& record) {
  LongestStage longest;
  for (std::size_t i = 0; i < static_cast<std::size_t>(RecordStage::kWaitConsumer); ++i) {
    if (record.stages[i].busy_ns > longest.busy_ns)
      longest = {static_cast<RecordStage>(i), record.stages[i].busy_ns};
  }
  return longest;
}

void blame_feed(const std::vector<BatchRecord>& records, const Interval& interval, Gap& gap) {
  const BatchRecord& culprit = culprit_of(records, interval.record);
  const LongestStage longest = longest_stage(culprit);
  // An utterance that took most of its stage is the reason, not the stage.
  const bool is_one_file = culprit.slowest_ns * 2 > longest.busy_ns && culprit.slowest_ns > 0;
  gap.stage = feed::name_of(is_one_file ? culprit.slowest_stage : longest.stage);
  if (is_one_file) gap.file = culprit.slowest_file.data();
  gap.sentence =
      is_one_file
          ? fmt::format("{} in {} of {}",
                        seconds_text(static_cast<double>(culprit.slowest_ns) * kSPerNs), gap.stage,
                        gap.file)
          : fmt::format("{} in {}", seconds_text(static_cast<double>(longest.busy_ns) * kSPerNs),
                        gap.stage);
  if (&culprit != &records[interval.record])
    gap.sentence += fmt::format(", of batch {} before it", culprit.batch);
}

// Work that made less than half of the gap is not its cause: beside it the step was slow.
void blame_consumer(const BatchRecord& record, Gap& gap) {
  const auto most = std::max_element(record.works_ns.begin(), record.works_ns.end());
  const double most_s = static_cast<double>(*most) * kSPerNs;
  gap.is_consumer = true;
  if (2 * most_s < gap.length_s) {
    gap.stage = "step";
    gap.sentence = "the consumer's own step";
    return;
  }
  gap.stage = feed::name_of(static_cast<feed::ConsumerWork>(most - record.works_ns.begin()));
  gap.sentence = fmt::format("the consumer: {} took {}", gap.stage, seconds_text(most_s));
}

}  // namespace

std::vector<Gap> find_gaps(const Evidence& evidence) {
  const std::vector<BatchRecord>& records = evidence.watch.records;
  std::vector<Interval> intervals = intervals_of(records);
  std::vector<double> lengths_s;
  lengths_s.reserve(intervals.size());
  for (const Interval& each : intervals) lengths_s.push_back(each.length_s);
  const double usual_s = median_of(lengths_s);
  const std::size_t count = std::min(kNumGaps, intervals.size());
  std::partial_sort(intervals.begin(), intervals.begin() + static_cast<std::ptrdiff_t>(count),
                    intervals.end(),
                    [](const Interval& a, const Interval& b) { return a.length_s > b.length_s; });
  std::vector<Gap> gaps;
  for (std::size_t i = 0; i < count; ++i) {
    const Interval& interval = intervals[i];
    if (interval.length_s - usual_s < std::max(kLeastGapS, 0.5 * usual_s)) break;
    const BatchRecord& record = records[interval.record];
    Gap gap{.epoch = record.epoch,
            .batch = record.batch,
            .at_s = static_cast<double>(record.handed_ns - records.front().handed_ns) * kSPerNs,
            .length_s = interval.length_s - usual_s};
    if (interval.wait_s > 0.5 * gap.length_s) {
      blame_feed(records, interval, gap);
    } else {
      blame_consumer(record, gap);
    }
    gaps.push_back(std::move(gap));
  }
  return gaps;
}

}  // namespace stoker::observe
