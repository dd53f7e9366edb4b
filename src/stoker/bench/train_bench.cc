#include "stoker/bench/train_bench.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/bench/errors.h"
#include "stoker/bench/feed_window.h"
#include "stoker/observe/statistics.h"

namespace stoker::bench {
namespace {

constexpr std::array<std::string_view, 3> kModelNames{"none", "gemm", "stoker"};
constexpr double kMsPerSecond = 1e3;

// Keys that only a model's run has.
constexpr std::array kOnlyTrained{"precision", "parameters", "model_size", "graphs", "resident"};

void put_utilization(const GemmConsumerReport& gemm, Json& row) {
  std::vector<double> percent = gemm.gpu_utilization_percent;
  if (percent.empty()) return;
  row["gpu_timeline"] = Json{{"util_percent", percent}};
  std::sort(percent.begin(), percent.end());
  row["gpu_util_mean"] = observe::mean_of(percent);
  row["gpu_util_min"] = percent.front();
  row["gpu_util_p5"] = percent[percent.size() / 20];
}

Json window_row(const FeedWindow& window) {
  const observe::ConsumerReport& taken = window.consumer;
  const observe::IntervalStatistics intervals = observe::summarize_intervals(taken.intervals_s);
  const double batches = std::max<double>(1, static_cast<double>(taken.num_batches));
  const double wall_s = std::max(taken.wall_s, 1e-9);
  Json row{{"device", window.device},
           {"num_workers", window.num_workers},
           {"batches", taken.num_batches},
           {"clips", taken.num_clips},
           {"true_frames", taken.true_frames},
           {"padded_frames", taken.all_frames},
           {"padding_share", taken.padding_share()},
           {"measured_s", taken.wall_s},
           {"samples_per_s", taken.clips_per_s()},
           {"frames_per_s", static_cast<double>(taken.true_frames) / wall_s},
           {"batch_ms",
            {{"mean", intervals.mean_ms},
             {"std", intervals.std_ms},
             {"min", intervals.min_ms},
             {"max", intervals.max_ms}}},
           {"interval_cv", intervals.cv()},
           {"p50_ms", intervals.p50_ms},
           {"p99_ms", intervals.p99_ms},
           {"data_ms", kMsPerSecond * taken.wait_s / batches},
           {"stall_share", taken.stall_share()},
           {"cpu_percent", 100 * taken.cpu_s / wall_s / count_cpus().allowed}};
  for (const char* const key : {"shape_cv", "compute_ms", "au", "gpu_util_mean", "gpu_util_min",
                                "gpu_util_p5", "gpu_timeline"})
    row[key] = nullptr;
  if (!window.gemm) return row;
  row["compute_ms"] = kMsPerSecond * window.gemm->step_s;
  row["au"] = window.gemm->accelerator_use;
  put_utilization(*window.gemm, row);
  return row;
}

Json measure_cell(Io& io, const FeedBenchCase& cell, const TrainBenchOptions& options) {
  if (options.model == TrainModel::kStoker) return options.measure(cell);
  FeedWindowOptions window;
  window.seconds = options.seconds;
  window.stop = options.stop;
  if (options.model == TrainModel::kGemm) {
    window.consumer = ConsumerKind::kGemm;
    window.step_ms = options.step_ms;
  }
  Json row = window_row(run_feed_window(io, cell, window));
  for (const char* const key : kOnlyTrained) row[key] = nullptr;
  return row;
}

std::string settings_key(const Json& row) { return row.at("changed").dump(); }

// Rows of other settings are no match, whatever their loader.
void put_speed_ups(std::vector<Json>& rows) {
  for (Json& row : rows) {
    row["speed_up"] = nullptr;
    for (const Json& other : rows) {
      if (other.at("loader").text() != "naive" || settings_key(other) != settings_key(row))
        continue;
      const double before = figure_at(other, "frames_per_s").value_or(0);
      if (before > 0) row["speed_up"] = figure_at(row, "frames_per_s").value_or(0) / before;
      break;
    }
  }
}

}  // namespace

TrainModel train_model_from(std::string_view name) {
  for (std::size_t i = 0; i < kModelNames.size(); ++i)
    if (kModelNames[i] == name) return static_cast<TrainModel>(i);
  raise({.code = &kBenchChoice,
         .promised = "model none, gemm or stoker",
         .found = std::string(name)});
}

std::string_view name_of(TrainModel model) { return kModelNames[static_cast<std::size_t>(model)]; }

std::vector<Json> bench_train(Io& io, const TrainBenchOptions& options) {
  for (const FeedBenchCase& cell : options.cells) {
    prepare_case(io, cell,
                 {.num_workers = count_cpus().allowed, .stop = options.stop, .say = options.say});
    check_feed_case(io, cell, options.stop);
  }
  std::vector<Json> rows;
  for (const FeedBenchCase& cell : options.cells) {
    if (options.stop.stop_requested()) break;
    Json row{{"loader", name_of(cell.loader)},
             {"path", name_of(cell.path)},
             {"model", name_of(options.model)},
             {"changed", cell.changed}};
    options.say("measuring " + row_name(row));
    row.update(measure_cell(io, cell, options));
    if (options.stop.stop_requested()) break;  // cut short: says nothing
    rows.push_back(std::move(row));
  }
  put_speed_ups(rows);
  return rows;
}

}  // namespace stoker::bench
