// The rows of `stoker bench feed`, as JSON and as a table.
#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/cli/bench_reports.h"
#include "stoker/cli/command_context.h"
#include "stoker/config/mel_dtype.h"

namespace stoker::cli {
namespace {

std::string dtype_of(const bench::FeedBenchCase& what) {
  return std::string(
      config::name_of(what.settings.batch.batch_dtype.value_or(what.settings.cache.dtype)));
}

Json intervals_json(const observe::IntervalStatistics& intervals) {
  return {{"interval_cv", intervals.cv()},
          {"p50_ms", intervals.p50_ms},
          {"p99_ms", intervals.p99_ms},
          {"p99_over_p50", intervals.p99_over_p50()},
          {"batch_ms",
           {{"mean", intervals.mean_ms},
            {"std", intervals.std_ms},
            {"min", intervals.min_ms},
            {"max", intervals.max_ms}}}};
}

Json knobs_json(const feed::TunerKnobs& knobs) {
  Json out = Json::object();
  for (std::size_t i = 0; i < feed::kTunerKnobNames.size(); ++i)
    out[std::string(feed::kTunerKnobNames[i])] = knobs.values[i];
  return out;
}

Json tuner_json(const bench::FeedBenchRow& row) {
  if (!row.tuner) return nullptr;
  Json moves = Json::array();
  double at_s = 0;
  for (const feed::TunerEntry& entry : row.tuner->entries) {
    at_s += entry.sample.seconds;
    if (!entry.move) continue;
    moves.push_back({{"at_s", at_s},
                     {"knob", feed::kTunerKnobNames[static_cast<std::size_t>(entry.move->knob)]},
                     {"from", entry.move->from},
                     {"to", entry.move->to},
                     {"reason", entry.move->reason}});
  }
  return {{"start", knobs_json(row.tuner->start)}, {"moves", std::move(moves)}};
}

// Where the threads' time went, and the share of the bus that was in use.
Json times_json(const bench::FeedBenchRow& row) {
  Json stages = Json::object();
  for (const auto& [name, share] : row.times.worker_stages) stages[name] = share;
  const double busy = row.times.worker_busy_share();
  Json out{{"workers_busy", busy},
           {"workers_wait", std::max(0.0, 1 - busy)},
           {"worker_stages", std::move(stages)},
           {"device_thread", nullptr},
           {"bus_busy", nullptr}};
  if (const auto& thread = row.times.device_thread) {
    Json shares = Json::object();
    for (const auto& [name, share] : thread->stages) shares[name] = share;
    shares["launch_us_per_batch"] = thread->launch_us_per_batch;
    out["device_thread"] = std::move(shares);
  }
  if (row.bus_clips_per_s > 0) out["bus_busy"] = row.clips_per_s / row.bus_clips_per_s;
  return out;
}

Json row_json(const bench::FeedBenchRow& row) {
  Json out{{"loader", bench::name_of(row.what.loader)},
           {"path", bench::name_of(row.what.path)},
           {"dtype", dtype_of(row.what)},
           {"device", row.device},
           {"changed", row.what.changed},
           {"num_workers", row.num_workers},
           {"clips_per_s", row.clips_per_s},
           {"median_clips_per_s", row.median_clips_per_s},
           {"windows_clips_per_s", row.windows_clips_per_s},
           {"samples_per_s", row.clips_per_s},
           {"audio_s_per_s", row.audio_s_per_s},
           {"limit", row.limit},
           {"limit_clips_per_s", row.limit_clips_per_s},
           {"share_of_limit", row.limit_clips_per_s > 0 ? Json(row.share_of_limit) : Json(nullptr)},
           {"cpu_s_per_1000_clips", row.cpu_s_per_1000_clips},
           {"cpu_percent", row.cpu_percent},
           {"stall_share", row.stall_share}};
  out.update(intervals_json(row.intervals));
  out["padding_share"] = row.padding_share();
  out["open_s"] = row.open_s;
  out["first_batch_s"] = row.first_batch_s;
  out["longest_epoch_gap_ms"] = row.longest_epoch_gap_ms;
  out["rss_mb"] = row.held_mb;
  out["buffers_mb"] = row.buffers_mb;
  out["step_ms"] = row.step_ms;
  out["step_alone_ms"] = row.step_alone_ms;
  out["supply_clips_per_s"] =
      row.supply_clips_per_s > 0 ? Json(row.supply_clips_per_s) : Json(nullptr);
  for (const feed::BatchCountField& field : feed::kBatchCountFields) {
    if (!field.bench_key.empty()) out[std::string(field.bench_key)] = row.*field.member;
  }
  out["repeated_windows"] = row.num_repeated_windows;
  out["from_memory"] = row.memory_intervals ? intervals_json(*row.memory_intervals) : Json(nullptr);
  out["gpu_util_mean"] = row.gpu_util_mean;
  out["gpu_util_p5"] = row.gpu_util_p5;
  out["gpu_util_min"] = row.gpu_util_min;
  out["au"] = row.au;
  out["step_cost"] = row.step_cost;
  out["ready_clips_per_s"] = row.ready_clips_per_s;
  out["ready_share_of_bus"] = row.ready_share_of_bus;
  out["times"] = times_json(row);
  out["way"] = row.transfer;
  out["fallbacks"] = feed::fallbacks_json(row.fallbacks);
  out["settings_at_end"] = knobs_json(row.knobs);
  out["tuner"] = tuner_json(row);
  return out;
}

// Against the naive row of the same path and settings, where there is one.
const bench::FeedBenchRow* naive_twin(const bench::FeedBenchReport& report,
                                      const bench::FeedBenchRow& row) {
  for (const bench::FeedBenchRow& other : report.rows) {
    if (other.what.loader == bench::FeedLoader::kNaive && other.what.path == row.what.path &&
        other.what.changed == row.what.changed)
      return &other;
  }
  return nullptr;
}

// The row without instruments that took turns with this one, which has them.
const bench::FeedBenchRow* uninstrumented_twin(const bench::FeedBenchReport& report,
                                               const bench::FeedBenchRow& row) {
  std::vector<std::string> wanted = row.what.changed;
  const auto on = std::find(wanted.begin(), wanted.end(), "observe.records=true");
  if (on == wanted.end()) return nullptr;
  *on = "observe.records=false";
  for (const bench::FeedBenchRow& other : report.rows) {
    if (other.what.loader == row.what.loader && other.what.path == row.what.path &&
        other.what.changed == wanted)
      return &other;
  }
  return nullptr;
}

Json cost_json(const bench::FeedBenchCost& cost) {
  return {{"median_rate", cost.median_rate},   {"lowest_rate", cost.lowest_rate},
          {"highest_rate", cost.highest_rate}, {"best_rate", cost.best_rate},
          {"median_cpu", cost.median_cpu},     {"lowest_cpu", cost.lowest_cpu},
          {"highest_cpu", cost.highest_cpu},   {"best_cpu", cost.best_cpu}};
}

void print_cost(CommandContext& context, const bench::FeedBenchCost& cost) {
  context.print(fmt::format(
      "  instruments cost {:+.2f} % of the rate ({:+.2f} to {:+.2f}, median of neighbouring "
      "windows; best against best {:+.2f} %), {:+.2f} % of processor time for a clip "
      "({:+.2f} to {:+.2f}; best against best {:+.2f} %)",
      100 * cost.median_rate, 100 * cost.lowest_rate, 100 * cost.highest_rate, 100 * cost.best_rate,
      100 * cost.median_cpu, 100 * cost.lowest_cpu, 100 * cost.highest_cpu, 100 * cost.best_cpu));
}

// What a consumer of matrix products saw, and where the time of the feed's threads went.
void print_times(CommandContext& context, const bench::FeedBenchRow& row) {
  if (row.au) {
    context.print(
        fmt::format("  steps of {:.3f} ms ({:.3f} without the feed, {:+.2f} %); with batches that "
                    "stay in memory the same takes {:.2f} % of the time",
                    row.step_ms, row.step_alone_ms.value_or(0), 100 * row.step_cost.value_or(0),
                    100 * *row.au));
  }
  const auto& thread = row.times.device_thread;
  if (!thread) return;
  context.print(fmt::format(
      "  workers busy {:.0f} %; the thread to the GPU waits {:.0f} % for them, {:.0f} % for "
      "copies, "
      "{:.0f} % for the consumer, and calls {:.0f} us a batch",
      100 * row.times.worker_busy_share(), 100 * thread->share("waits_for_workers"),
      100 * thread->share("waits_for_copy"), 100 * thread->share("waits_for_slot"),
      thread->launch_us_per_batch));
}

std::string name_of(const bench::FeedBenchRow& row) {
  std::string name = fmt::format("{} {} {}", bench::name_of(row.what.loader),
                                 bench::name_of(row.what.path), dtype_of(row.what));
  for (const std::string& change : row.what.changed) name += " " + change;
  return name;
}

void print_row(CommandContext& context, const bench::FeedBenchRow& row,
               const bench::FeedBenchRow* naive) {
  context.print(fmt::format(
      "{}\n  {:>9} clips/s best, {} median{}; {:.0f} % of the reference ({}: {}); {:.4f} CPU s per "
      "1,000 clips, CPU {:.0f} %",
      name_of(row), grouped(static_cast<std::uint64_t>(row.clips_per_s)),
      grouped(static_cast<std::uint64_t>(row.median_clips_per_s)),
      naive == nullptr || naive == &row
          ? ""
          : fmt::format(", {:.1f}x naive", row.clips_per_s / naive->clips_per_s),
      100 * row.share_of_limit, row.limit,
      grouped(static_cast<std::uint64_t>(row.limit_clips_per_s)), row.cpu_s_per_1000_clips,
      row.cpu_percent));
  context.print(fmt::format(
      "  batch {:.3f} +- {:.3f} ms (std/mean {:.3f}), p50 {:.3f}, p99 {:.3f}; stall {:.2f} %; "
      "padding {:.2f} %",
      row.intervals.mean_ms, row.intervals.std_ms, row.intervals.cv(), row.intervals.p50_ms,
      row.intervals.p99_ms, 100 * row.stall_share, 100 * row.padding_share()));
  if (row.memory_intervals) {
    context.print(
        fmt::format("  the same consumer fed from memory: std/mean {:.3f}, p99/p50 {:.3f} "
                    "(here {:.3f})",
                    row.memory_intervals->cv(), row.memory_intervals->p99_over_p50(),
                    row.intervals.p99_over_p50()));
  }
  print_times(context, row);
  context.print(
      fmt::format("  first batch {:.2f} ms after open ({:.3f} s); memory grew by {:.0f} MB; {:.0f} "
                  "MB reserved for "
                  "batches",
                  1e3 * row.first_batch_s, row.open_s, row.held_mb, row.buffers_mb));
}

}  // namespace

observe::RunStory story_of_rows(const bench::FeedBenchReport& report, const std::string& data) {
  observe::RunStory story;
  story.subject = data;
  for (const bench::FeedBenchRow& row : report.rows)
    story.bench.push_back({.name = name_of(row),
                           .clips_per_s = row.clips_per_s,
                           .limit = row.limit,
                           .limit_clips_per_s = row.limit_clips_per_s,
                           .share_of_limit = row.share_of_limit,
                           .stall_share = row.stall_share,
                           .interval_cv = row.intervals.cv(),
                           .p50_ms = row.intervals.p50_ms,
                           .p99_ms = row.intervals.p99_ms});
  return story;
}

void put_tuner_replay(CommandContext& context, const feed::TunerReplay& replay) {
  context.report()["same_moves"] = !replay.first_difference;
  context.report()["moves"] = replay.moves.size();
  context.report()["settings_at_end"] = knobs_json(replay.knobs);
  context.print(fmt::format("{} moves, {} the log's: {}", replay.moves.size(),
                            replay.first_difference ? "not" : "the same as",
                            knobs_json(replay.knobs).dump()));
}

void put_feed_report(CommandContext& context, const bench::FeedBenchReport& report) {
  Json& out = context.report();
  out["calibration_ms"] = report.calibration_ms;
  if (report.rows.size() == 1) out.update(row_json(report.rows.front()));
  out["rows"] = Json::array();
  for (const bench::FeedBenchRow& row : report.rows) {
    const bench::FeedBenchRow* const naive = naive_twin(report, row);
    Json line = row_json(row);
    if (naive != nullptr) line["speed_up"] = row.clips_per_s / naive->clips_per_s;
    const bench::FeedBenchRow* const plain = uninstrumented_twin(report, row);
    if (plain != nullptr) line["instruments_cost"] = cost_json(cost_between(row, *plain));
    out["rows"].push_back(std::move(line));
    print_row(context, row, naive);
    if (plain != nullptr) print_cost(context, cost_between(row, *plain));
  }
}

}  // namespace stoker::cli
