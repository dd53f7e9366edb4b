#include "stoker/observe/trace/profile_run.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/feed/records/record_places.h"
#include "stoker/observe/batch_source.h"
#include "stoker/observe/diagnose/watched_run.h"
#include "stoker/observe/machine/machine_log.h"
#include "stoker/observe/machine/machine_sampler.h"

namespace stoker::observe {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kBetweenReads = 1024;  // batches: a quarter of the ring
constexpr unsigned kSeldom = 1'000'000;        // whole samples are taken where they are needed

// Sums the ring up before it forgets.
class RingSums {
 public:
  explicit RingSums(feed::RecordReader reader) : reader_(std::move(reader)) {
    next_ = reader_.num_written().take_or_raise();
  }
  void read() {
    records_.clear();
    const feed::RecordsRead found = reader_.read_since(next_, records_).take_or_raise();
    next_ = found.next;
    num_lost += found.num_lost;
    for (const feed::BatchRecord& record : records_) sums.add(record);
  }

  ProfileSums sums;
  std::uint64_t num_lost = 0;

 private:
  feed::RecordReader reader_;
  std::uint64_t next_ = 0;
  std::vector<feed::BatchRecord> records_;
};

void take_batches(feed::OpenedFeed& opened, const ProfileOptions& options, RingSums& sums) {
  const auto consumer = make_stand_in(opened, options.step_s);
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < options.max_batches && watch.seconds() < options.seconds; ++i) {
    std::optional<feed::Batch> batch = next_of_any_epoch(opened.feed, options.stop);
    if (!batch) break;
    consumer->step(std::move(*batch), opened.feed);
    if (i % kBetweenReads == kBetweenReads - 1) sums.read();
  }
  consumer->rest();
}

std::unique_ptr<TraceRecorder> start_trace(const feed::Feed& feed, const ProfileOptions& options,
                                           MachineSampler& sampler) {
  if (!options.trace.is_wanted()) return nullptr;
  feed::RecordReader reader = feed.records().value();
  TraceWriter writer = open_trace(*options.io, options.trace, trace_head_of(reader.head()));
  return std::make_unique<TraceRecorder>(std::move(reader), std::move(writer),
                                         TraceRecorderOptions{.sampler = &sampler});
}

// The machine's figures of the same time, where the training left any.
void add_logged(const std::string& folder, const std::vector<feed::BatchRecord>& records, Io& io,
                BatchTrace& trace) {
  const Result<std::vector<LoggedMachine>> lines = read_machine_log(io, folder + "/machine.jsonl");
  if (!lines) return;
  for (const LoggedMachine& line : *lines) {
    const bool is_inside =
        line.at_ns >= records.front().asked_ns &&
        line.at_ns <= std::max(records.back().handed_ns, records.back().released_ns);
    if (is_inside) trace.add(line.window, line.at_ns);
  }
}

}  // namespace

TraceWriter open_trace(Io& io, const TraceTarget& target, const TraceHead& head) {
  if (target.sink) return {target.sink, trace_format_of(target.path), head};
  return TraceWriter::open(io, target.path, head).take_or_raise();
}

ProfileReport profile_feed(const ProfileOptions& options) {
  config::Settings settings = options.settings;
  settings.observe.records = true;
  feed::OpenedFeed opened =
      feed::open_feed(settings, {.io = options.io, .wrap = options.wrap, .stop = options.stop});
  MachineSources sources = machine_sources(opened, settings);
  sources.data_files.clear();  // looking which are in memory would cost the feed a core's percent
  MachineSampler sampler(std::move(sources), {.every = milliseconds(50), .dear_every = kSeldom});
  RingSums sums(opened.feed.records().value());
  const auto recorder = start_trace(opened.feed, options, sampler);
  const std::chrono::nanoseconds begun = sampler.mark();
  take_batches(opened, options, sums);
  ProfileReport report;
  report.machine = sampler.window(begun, sampler.mark());
  sums.read();
  report.profile = sums.sums.profile(report.machine);
  report.num_lost = sums.num_lost;
  const feed::FeedStats stats = opened.feed.stats();
  report.counted = stats.pipeline.stages;
  for (const std::uint64_t fills : stats.pipeline.fills) report.num_filled += fills;
  if (recorder != nullptr) {
    report.trace = recorder->finish();
    if (report.trace->failure) raise(*report.trace->failure);
  }
  return report;
}

ProfileReport profile_run(const std::string& path, const TraceTarget& trace, Io& io) {
  const std::string file = feed::records_at(path, io).take_or_raise();
  const feed::RecordReader reader = feed::RecordReader::open(file, io).take_or_raise();
  std::vector<feed::BatchRecord> records;
  const feed::RecordsRead read = reader.read_since(0, records).take_or_raise();
  ProfileSums sums;
  for (const feed::BatchRecord& record : records) sums.add(record);
  ProfileReport report;
  report.profile = sums.profile();
  report.num_lost = read.num_lost;
  if (!trace.is_wanted()) return report;
  TraceWriter writer = open_trace(io, trace, trace_head_of(reader.head()));
  for (const feed::BatchRecord& record : records) writer.batches().add(record);
  if (file != path && !records.empty()) add_logged(path, records, io, writer.batches());
  writer.finish().take_or_raise();
  report.trace = TraceSummary{.num_batches = records.size(), .num_bytes = writer.num_bytes()};
  return report;
}

}  // namespace stoker::observe
