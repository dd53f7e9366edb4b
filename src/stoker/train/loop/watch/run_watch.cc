#include "stoker/train/loop/watch/run_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/number_text.h"
#include "stoker/observe/diagnose/watched_run.h"
#include "stoker/observe/report/run_page.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

using std::chrono::nanoseconds;

constexpr unsigned kGlancesALine = 10;  // at the GPU, whose figures are of moments
// Whole samples are taken with the lines, so that each line has its own time and nothing else.
constexpr unsigned kSeldom = 1'000'000;
constexpr nanoseconds kShortestLine = std::chrono::milliseconds(10);

observe::MachineSources sources_of(const config::Settings& settings, const StartedRun& run,
                                   const TrainingHooks& hooks) {
  observe::MachineSources sources = observe::machine_sources(run.feeds.train, settings);
  sources.data_files.clear();  // no line tells the share of them in memory
  if (hooks.open_gauge) sources.gauge = hooks.open_gauge(std::max(0, run.device.index()));
  return sources;
}

}  // namespace

RunWatch::RunWatch(const config::Settings& settings, const StartedRun& run,
                   const TrainingHooks& hooks)
    : hooks_(hooks),
      every_(static_cast<std::int64_t>(1e9 * settings.observe.sample_interval_s)),
      records_(run.feeds.train.feed.records()) {
  using observe::MachineLog;
  const auto earlier = run.is_resumed ? MachineLog::Earlier::kGoOn : MachineLog::Earlier::kDrop;
  Result<MachineLog> log =
      MachineLog::open(*hooks.io, run.folder->path() + "/machine.jsonl", earlier);
  if (log)
    log_.emplace(std::move(log).value());
  else
    failure_ = log.error();
  sampler_ = std::make_unique<observe::MachineSampler>(
      sources_of(settings, run, hooks),
      observe::MachineSamplerOptions{
          .every = every_ / kGlancesALine, .dear_every = kSeldom, .clock = hooks.clock});
  start_trace(settings, run);
  read_at_ = sampler_->mark();
  thread_ = Thread(kThreadName, [this](const std::stop_token& stop) { watch(stop); });
}

RunWatch::~RunWatch() { finish(); }

void RunWatch::start_trace(const config::Settings& settings, const StartedRun& run) {
  const std::string& path = settings.observe.trace;
  if (path.empty()) return;
  std::optional<feed::RecordReader> reader = run.feeds.train.feed.records();
  if (!reader)
    raise({.code = &kTrainSettings,
           .promised = "observe.records on, which a trace is made from",
           .found = "off",
           .cure = "leave out --trace, or turn observe.records on"});
  if (path == "-")
    raise({.code = &kTrainSettings,
           .promised = "a file for the trace",
           .found = "\"-\"",
           .cure = "name a file, e.g. --trace run.pftrace"});
  observe::TraceWriter writer =
      observe::TraceWriter::open(*hooks_.io, path, observe::trace_head_of(reader->head()))
          .take_or_raise();
  trace_ = std::make_unique<observe::TraceRecorder>(
      std::move(*reader), std::move(writer), observe::TraceRecorderOptions{.clock = hooks_.clock});
}

void RunWatch::watch(const std::stop_token& stop) {
  while (true) {
    const nanoseconds next = read_at_ + every_ * (log_ ? log_->stride() : 1);
    {
      Lock lock(mutex_);
      WaitEnd end = WaitEnd::kNotified;
      while (end == WaitEnd::kNotified) end = ended_.wait_until(lock, stop, {hooks_.clock, next});
      if (end == WaitEnd::kStopped) return;
    }
    read();
  }
}

void RunWatch::read() {
  const nanoseconds now = sampler_->mark();
  Reading reading{.number = ++num_readings_,
                  .machine = sampler_->window(read_at_, now),
                  .num_ready = num_ready()};
  read_at_ = now;
  if (trace_ != nullptr) trace_->add(reading.machine, now);
  Result<void> written;
  if (log_)
    written = log_->append(
        observe::machine_line(reading.machine, {.at_ns = now.count(),
                                                .unix_ns = hooks_.clock->unix_time_ns(),
                                                .num_ready = reading.num_ready}));
  const Lock lock(mutex_);
  if (!written) failure_ = written.error();
  latest_ = std::move(reading);
}

std::optional<std::uint32_t> RunWatch::num_ready() const {
  if (!records_) return std::nullopt;
  const Result<std::uint64_t> written = records_->num_written();
  std::vector<feed::BatchRecord> last;
  if (!written || *written == 0 || !records_->read_since(*written - 1, last) || last.empty())
    return std::nullopt;
  return last.back().num_ready;
}

std::optional<RunWatch::Reading> RunWatch::newer_than(std::uint64_t number) const {
  const Lock lock(mutex_);
  if (!latest_ || latest_->number <= number) return std::nullopt;
  return latest_;
}

std::optional<Error> RunWatch::take_failure() {
  const Lock lock(mutex_);
  return std::exchange(failure_, std::nullopt);
}

std::optional<observe::TraceSummary> RunWatch::finish() {
  if (!thread_.joinable()) return std::nullopt;
  thread_ = Thread();
  if (hooks_.clock->now() - read_at_ >= kShortestLine) read();
  if (trace_ == nullptr) return std::nullopt;
  return trace_->finish();
}

void tell_trace(const TrainingHooks& hooks, const std::string& path,
                const observe::TraceSummary& trace, Json& result) {
  if (trace.failure) tell_warning(hooks, "the trace ends early: " + error_line(*trace.failure));
  if (trace.num_lost > 0)
    tell_warning(hooks, fmt::format("{} missing in {}: the feed was faster than its records could "
                                    "be taken",
                                    counted(trace.num_lost, "batch is", "batches are"), path));
  tell_line(hooks, fmt::format("trace     {}: {}, {}; open it in https://ui.perfetto.dev", path,
                               counted(trace.num_batches, "batch", "batches"),
                               bytes_text(trace.num_bytes)));
  result["trace"] = path;
  result["trace_lost"] = trace.num_lost;
}

void write_report(const config::Settings& settings, const TrainingHooks& hooks, Json& result) {
  const std::string& file = settings.observe.report;
  if (file.empty()) return;
  try {
    const auto language = observe::language_from(settings.observe.report_language);
    observe::write_run_report(*hooks.io, result.at("run").text(), file,
                              language.value_or(observe::ReportLanguage::kEnglish));
    result["report"] = file;
    tell_line(hooks, "report " + file);
  } catch (const Failure& failure) {
    tell_warning(hooks, "the report is not written: " + error_line(failure.error()));
  }
}

}  // namespace stoker::train
