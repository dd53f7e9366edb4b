// What a run did over time: timelines, intervals, workers by stage, padding, loss.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "stoker/base/number_text.h"
#include "stoker/base/report/figures.h"
#include "stoker/base/report/svg_layout.h"
#include "stoker/observe/report/page_parts.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {
namespace {

using feed::BatchRecord;
using feed::RecordStage;

constexpr double kSPerNs = 1e-9, kMsPerNs = 1e-6;
constexpr std::size_t kTimeColumns = 60;

double begin_s(const std::vector<BatchRecord>& records) {
  return kSPerNs * static_cast<double>(records.front().handed_ns);
}

double end_s(const std::vector<BatchRecord>& records) {
  return kSPerNs * static_cast<double>(records.back().handed_ns);
}

// Lanes of the machine from `from_s` to `to_s` on the steady clock; those with a point or more.
void put_machine_lanes(const PageParts& parts, double from_s, double to_s,
                       std::vector<TimelineLane>& lanes) {
  const FigureColumns& machine = parts.story.machine;
  const Words& words = parts.words;
  const auto add = [&](Word title, const ChartAxis& y, std::vector<ChartSeries> series) {
    std::erase_if(series, [](const ChartSeries& one) { return one.x.size() < 2; });
    if (!series.empty()) lanes.push_back({words(title), y, std::move(series)});
  };
  add(Word::kLaneGpu, {.low = 0.0, .high = 100.0},
      {machine.means("gpu_percent", "GPU", from_s, to_s)});
  add(Word::kLaneCores, {.low = 0.0},
      {machine.means("own_cores", words(Word::kOwnCores), from_s, to_s),
       machine.means("other_cores", words(Word::kOtherCores), from_s, to_s)});
  ChartSeries disk = machine.means("disk_read_bytes_per_s", "", from_s, to_s);
  for (double& each : disk.y) each *= 1e-6;
  if (!disk.y.empty() && *std::max_element(disk.y.begin(), disk.y.end()) > 0.1)
    add(Word::kLaneDisk, {.low = 0.0}, {std::move(disk)});
}

void put_record_lanes(const PageParts& parts, std::vector<TimelineLane>& lanes) {
  const std::vector<BatchRecord>& records = parts.records();
  const Words& words = parts.words;
  ChartSeries interval{.name = words(Word::kInterval), .x = {}, .y = {}};
  ChartSeries waiting{.name = words(Word::kWaiting), .x = {}, .y = {}};
  ChartSeries ready{.name = words(Word::kReady), .x = {}, .y = {}};
  for (std::size_t i = 1; i < records.size(); ++i) {
    const double at_s = kSPerNs * static_cast<double>(records[i].handed_ns) - begin_s(records);
    for (ChartSeries* one : {&interval, &waiting, &ready}) one->x.push_back(at_s);
    interval.y.push_back(kMsPerNs *
                         static_cast<double>(records[i].handed_ns - records[i - 1].handed_ns));
    waiting.y.push_back(kMsPerNs * static_cast<double>(records[i].wait_ns()));
    ready.y.push_back(records[i].num_ready);
  }
  const bool has_buffer =
      std::any_of(ready.y.begin(), ready.y.end(), [](double each) { return each > 0; });
  if (has_buffer) lanes.push_back({words(Word::kLaneFeed), {.low = 0.0}, {std::move(ready)}});
  lanes.push_back(
      {words(Word::kLaneConsumer), {.low = 0.0}, {std::move(interval), std::move(waiting)}});
}

void add_last_batches(const PageParts& parts) {
  const std::vector<BatchRecord>& records = parts.records();
  if (records.size() < 3) return;
  std::vector<TimelineLane> lanes;
  put_machine_lanes(parts, begin_s(records), end_s(records), lanes);
  put_record_lanes(parts, lanes);
  const double length_s = end_s(records) - begin_s(records);
  const std::uint64_t all = std::max<std::uint64_t>(parts.story.num_batches, records.size());
  add_timeline_figure(parts.page,
                      {.title = parts.words(Word::kTimeline),
                       .x = {.label = parts.words(Word::kTimeAxis), .low = 0.0, .high = length_s}},
                      lanes,
                      parts.words(Word::kTimelineNote, {grouped(records.size()), grouped(all)}));
}

void add_steps(const PageParts& parts) {
  const FigureColumns& metrics = parts.story.metrics;
  const Words& words = parts.words;
  const std::array series{metrics.means("step_ms", words(Word::kWholeStep)),
                          metrics.means("data_ms", words(Word::kDataMs))};
  if (series[0].x.size() < 2) return;
  const std::uint64_t lines_a_point = metrics.num_lines() / series[0].x.size();
  add_line_figure(parts.page,
                  {.title = words(Word::kWholeRun),
                   .x = {.label = words(Word::kStepAxis)},
                   .y = {.label = words(Word::kStepMs), .low = 0.0}},
                  series,
                  lines_a_point > 1 ? words(Word::kWholeRunMean, {grouped(lines_a_point)})
                                    : words(Word::kWholeRunNote));
}

// Where it tells more than the lanes above the last batches.
void add_machine_run(const PageParts& parts) {
  const FigureColumns& machine = parts.story.machine;
  if (machine.num_lines() < 3) return;
  const ChartSeries all = machine.means(machine.has("own_cores") ? "own_cores" : "gpu_percent", "");
  if (all.x.size() < 2) return;
  const std::vector<BatchRecord>& records = parts.records();
  const double length_s = all.x.back() - all.x.front();
  if (records.size() > 2 && length_s < 1.5 * (end_s(records) - begin_s(records))) return;
  std::vector<TimelineLane> lanes;
  put_machine_lanes(parts, all.x.front(), all.x.back(), lanes);
  if (lanes.empty()) return;
  add_timeline_figure(parts.page,
                      {.title = parts.words(Word::kMachineRun),
                       .x = {.label = parts.words(Word::kTimeAxis), .low = 0.0, .high = length_s}},
                      lanes, parts.words(Word::kMachineRunNote));
}

// Seconds of work in each column of time, for each stage.
class StageColumns {
 public:
  explicit StageColumns(const std::vector<BatchRecord>& records)
      : begin_ns_(records.front().handed_ns),
        width_ns_(static_cast<double>(records.back().handed_ns - begin_ns_) / kTimeColumns) {
    for (const BatchRecord& record : records) {
      num_workers_ = std::max(num_workers_, record.num_workers);
      for (std::size_t i = 0; i < kNumStages; ++i) spread(record.stages[i], columns_[i]);
    }
  }
  static constexpr auto kNumStages = static_cast<std::size_t>(RecordStage::kWaitSlot);
  using Column = std::array<double, kTimeColumns>;

  bool has_times() const { return width_ns_ > 0 && all_of_them() > 0; }
  unsigned num_workers() const { return num_workers_; }
  const Column& of(std::size_t stage) const { return columns_[stage]; }
  double sum_of(std::size_t stage) const {
    return std::accumulate(columns_[stage].begin(), columns_[stage].end(), 0.0);
  }
  double all_of_them() const {
    double sum = 0;
    for (std::size_t i = 0; i < kNumStages; ++i) sum += sum_of(i);
    return sum;
  }
  double width_s() const { return kSPerNs * width_ns_; }

 private:
  // Busy time is evenly spread between begin and end: utterances take turns in a stage.
  void spread(const feed::StageSpan& span, Column& column) const {
    if (span.begin_ns <= 0 || span.busy_ns <= 0 || span.end_ns <= span.begin_ns || width_ns_ <= 0)
      return;
    const double density =
        static_cast<double>(span.busy_ns) / static_cast<double>(span.end_ns - span.begin_ns);
    const double from = static_cast<double>(span.begin_ns - begin_ns_) / width_ns_;
    const double to = static_cast<double>(span.end_ns - begin_ns_) / width_ns_;
    const auto first = static_cast<std::size_t>(std::clamp(from, 0.0, double{kTimeColumns}));
    for (std::size_t i = first; i < kTimeColumns && static_cast<double>(i) < to; ++i) {
      const double left = std::max(from, static_cast<double>(i));
      const double right = std::min(to, static_cast<double>(i + 1));
      column[i] += density * std::max(0.0, right - left);
    }
  }

  std::int64_t begin_ns_;
  double width_ns_;
  unsigned num_workers_ = 0;
  std::array<Column, kNumStages> columns_{};
};

// The largest stages by name, the others as one, and what is left of the workers.
std::vector<ChartSeries> worker_series(const StageColumns& stages, const Words& words) {
  constexpr double kLeastShare = 0.01;
  std::vector<double> x;
  for (std::size_t i = 0; i < kTimeColumns; ++i)
    x.push_back(stages.width_s() * (static_cast<double>(i) + 0.5));
  std::vector<ChartSeries> series;
  ChartSeries other{words(Word::kOther), x, std::vector<double>(x.size(), 0.0)};
  ChartSeries idle{words(Word::kIdle), x, std::vector<double>(x.size(), stages.num_workers())};
  for (std::size_t stage = 0; stage < StageColumns::kNumStages; ++stage) {
    const StageColumns::Column& column = stages.of(stage);
    const bool is_large = stages.sum_of(stage) >= kLeastShare * stages.all_of_them();
    if (is_large)
      series.push_back(
          {stage_name(words, static_cast<RecordStage>(stage)), x, {column.begin(), column.end()}});
    for (std::size_t i = 0; i < x.size(); ++i) {
      idle.y[i] = std::max(0.0, idle.y[i] - column[i]);
      if (!is_large) other.y[i] += column[i];
    }
  }
  if (std::any_of(other.y.begin(), other.y.end(), [](double each) { return each > 0; }))
    series.push_back(std::move(other));
  if (stages.num_workers() > 0) series.push_back(std::move(idle));
  return series;
}

struct Bucket {
  double frames = 0, padded = 0, rows = 0, count = 0;
  double padding() const { return padded - frames; }
};

std::vector<Bucket> buckets_of(const std::vector<BatchRecord>& records) {
  std::map<std::uint32_t, Bucket> by_shape;
  for (const BatchRecord& record : records) {
    Bucket& bucket = by_shape[record.shape];
    bucket.frames += record.num_frames;
    bucket.padded += record.padded_frames;
    bucket.rows += record.num_rows;
    ++bucket.count;
  }
  std::vector<Bucket> buckets;
  for (const auto& [shape, bucket] : by_shape)
    if (bucket.padded > 0 && bucket.rows > 0) buckets.push_back(bucket);
  return buckets;
}

}  // namespace

void add_timeline(const PageParts& parts) {
  const bool has_steps = parts.story.metrics.means("step_ms", "").x.size() >= 2;
  if (parts.records().size() < 3 && !has_steps && parts.story.machine.num_lines() < 3) return;
  parts.page.open_section(parts.words(Word::kTimeline));
  if (!parts.story.machine.has("gpu_percent")) parts.page.add_paragraph(parts.words(Word::kNoGpu));
  add_last_batches(parts);
  add_steps(parts);
  add_machine_run(parts);
}

void add_intervals(const PageParts& parts) {
  const std::vector<BatchRecord>& records = parts.records();
  if (records.size() < 3) return;
  std::vector<double> intervals_s, intervals_ms;
  for (std::size_t i = 1; i < records.size(); ++i)
    intervals_s.push_back(kSPerNs *
                          static_cast<double>(records[i].handed_ns - records[i - 1].handed_ns));
  const IntervalStatistics all = summarize_intervals(intervals_s);
  if (!(all.max_ms > 0)) return;
  for (const double each : intervals_s) intervals_ms.push_back(1e3 * each);
  parts.page.open_section(parts.words(Word::kIntervals));
  constexpr std::size_t kNumBins = 32;
  add_histogram_figure(
      parts.page,
      {.title = parts.words(Word::kIntervals),
       .x = {.label = parts.words(Word::kIntervalAxis),
             .low = 0.0,
             .high = std::min(all.max_ms, std::max(1.5 * all.p99_ms, 2 * all.p50_ms))},
       .y = {.label = parts.words(Word::kBatchesAxis)},
       .shows_title = false,
       .height = 280},
      intervals_ms, kNumBins,
      parts.words(Word::kIntervalsNote,
                  {short_figure(all.p50_ms) + " ms", short_figure(all.p99_ms) + " ms",
                   short_figure(all.max_ms) + " ms"}));
}

void add_workers(const PageParts& parts) {
  if (parts.records().size() < 3) return;
  const StageColumns stages(parts.records());
  if (!stages.has_times()) return;
  parts.page.open_section(parts.words(Word::kWorkers));
  add_area_figure(parts.page,
                  {.title = parts.words(Word::kWorkers),
                   .x = {.label = parts.words(Word::kTimeAxis)},
                   .y = {.label = parts.words(Word::kWorkersAxis)},
                   .shows_title = false,
                   .height = 300},
                  worker_series(stages, parts.words),
                  stages.num_workers() == 0
                      ? parts.words(Word::kWorkersNone)
                      : parts.words(Word::kWorkersNote, {fmt::format("{}", stages.num_workers())}),
                  stages.num_workers() == 0 ? AreaRest::kNone : AreaRest::kLastSeries);
}

void add_padding(const PageParts& parts) {
  constexpr std::size_t kMostBuckets = 16;
  std::vector<Bucket> buckets = buckets_of(parts.records());
  double frames = 0, padded = 0;
  for (const Bucket& bucket : buckets) frames += bucket.frames, padded += bucket.padded;
  if (padded <= 0) return;
  const std::size_t num_all = buckets.size();
  if (num_all > kMostBuckets) {
    std::stable_sort(buckets.begin(), buckets.end(),
                     [](const Bucket& a, const Bucket& b) { return a.padding() > b.padding(); });
    buckets.resize(kMostBuckets);
  }
  std::stable_sort(buckets.begin(), buckets.end(), [](const Bucket& a, const Bucket& b) {
    return a.padded / a.rows < b.padded / b.rows;
  });
  std::vector<std::string> labels;
  std::array bars{BarParts{parts.words(Word::kSpeech), {}},
                  BarParts{parts.words(Word::kPaddingPart), {}}};
  for (const Bucket& bucket : buckets) {
    labels.push_back(
        fmt::format("{:.0f} × {:.0f}", bucket.rows / bucket.count, bucket.padded / bucket.rows));
    bars[0].values.push_back(bucket.frames / bucket.count);
    bars[1].values.push_back(bucket.padding() / bucket.count);
  }
  std::string note = parts.words(Word::kPaddingNote, {percent_text(1 - frames / padded)});
  if (num_all > kMostBuckets)
    note += " " + parts.words(Word::kPaddingMore, {grouped(kMostBuckets), grouped(num_all)});
  parts.page.open_section(parts.words(Word::kPadding));
  add_bar_figure(parts.page,
                 {.title = parts.words(Word::kPadding),
                  .x = {.label = parts.words(Word::kFramesAxis)},
                  .y = {.label = parts.words(Word::kBucket)},
                  .shows_title = false,
                  .height = 0},
                 labels, bars, note);
}

void add_learning(const PageParts& parts) {
  const FigureColumns& metrics = parts.story.metrics;
  const Words& words = parts.words;
  const std::array series{metrics.means("loss", words(Word::kLoss)), metrics.means("flow", "flow"),
                          metrics.means("prior", "prior"), metrics.means("duration", "duration")};
  const bool has_loss = series[0].x.size() >= 2;
  if (!has_loss && parts.story.sounds.empty()) return;
  parts.page.open_section(words(Word::kLearning));
  if (has_loss)
    add_line_figure(parts.page,
                    {.title = words(Word::kLoss),
                     .x = {.label = words(Word::kStepAxis)},
                     .y = {.label = words(Word::kLoss)}},
                    series, words(Word::kLossNote));
  for (const StorySound& sound : parts.story.sounds) parts.page.add_sound(sound.bytes, sound.file);
  if (parts.story.num_more_sounds > 0)
    parts.page.add_paragraph(words(Word::kMoreSounds, {grouped(parts.story.num_more_sounds)}));
}

}  // namespace stoker::observe
