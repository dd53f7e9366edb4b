#include "stoker/bench/feed_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/bench/errors.h"
#include "stoker/bench/feed_window.h"
#include "stoker/observe/calibration_loop.h"
#include "stoker/observe/statistics.h"

namespace stoker::bench {
namespace {

// Disturbed windows are repeated, but not without end: some machines are never calm.
constexpr unsigned kRepeatsPerWindow = 3;

double cpu_per_1000(const FeedWindow& window) {
  const auto clips = static_cast<double>(std::max<std::uint64_t>(1, window.consumer.num_clips));
  return 1000 * window.consumer.cpu_s / clips;
}

// Intervals of all windows in one; the time between windows is none.
std::vector<double> joined(const std::vector<FeedWindow>& windows, bool of_memory) {
  std::vector<double> all;
  for (const FeedWindow& window : windows) {
    if (of_memory && !window.memory) continue;
    const auto& own = of_memory ? window.memory->intervals_s : window.consumer.intervals_s;
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

void add_rates(const std::vector<FeedWindow>& windows, FeedBenchRow& row) {
  std::vector<double> rates, first_batches;
  const FeedWindow* best = &windows.front();
  row.cpu_s_per_1000_clips = cpu_per_1000(windows.front());
  row.open_s = windows.front().open_s;
  for (const FeedWindow& window : windows) {
    rates.push_back(window.consumer.clips_per_s());
    first_batches.push_back(window.first_batch_s);
    if (rates.back() > best->consumer.clips_per_s()) best = &window;
    row.limit_clips_per_s = std::max(row.limit_clips_per_s, window.limit.clips_per_s);
    row.cpu_s_per_1000_clips = std::min(row.cpu_s_per_1000_clips, cpu_per_1000(window));
    row.open_s = std::min(row.open_s, window.open_s);
    row.held_mb = std::max(row.held_mb, window.held_mb);
    row.buffers_mb = std::max(row.buffers_mb, window.buffers_mb);
  }
  row.windows_clips_per_s = rates;
  for (const FeedWindow& window : windows)
    row.windows_cpu_s_per_1000_clips.push_back(cpu_per_1000(window));
  row.clips_per_s = best->consumer.clips_per_s();
  row.median_clips_per_s = observe::median_of(rates);
  row.first_batch_s = observe::median_of(first_batches);
  row.audio_s_per_s = best->audio_s_per_frame * static_cast<double>(best->consumer.true_frames) /
                      std::max(best->consumer.wall_s, 1e-9);
  if (row.limit_clips_per_s > 0) row.share_of_limit = row.clips_per_s / row.limit_clips_per_s;
}

void add_totals(const std::vector<FeedWindow>& windows, FeedBenchRow& row) {
  double wall_s = 0, wait_s = 0, cpu_s = 0;
  for (const FeedWindow& window : windows) {
    const observe::ConsumerReport& consumer = window.consumer;
    wall_s += consumer.wall_s;
    wait_s += consumer.wait_s;
    cpu_s += consumer.cpu_s;
    row += consumer;
    for (const std::uint64_t at : consumer.epoch_ends) {
      row.longest_epoch_gap_ms = std::max(row.longest_epoch_gap_ms, 1e3 * consumer.intervals_s[at]);
    }
  }
  row.stall_share = wall_s > 0 ? wait_s / wall_s : 0;
  row.cpu_percent = wall_s > 0 ? 100 * cpu_s / wall_s / count_cpus().allowed : 0;
}

// What only a GPU has: the ring by itself, and a consumer of matrix products.
void add_gpu(const std::vector<FeedWindow>& windows, FeedBenchRow& row) {
  std::vector<double> percent;
  double use = 0, cost = 0, alone_s = 0, count = 0;
  for (const FeedWindow& window : windows) {
    if (!window.gemm) continue;
    const auto& own = window.gemm->gpu_utilization_percent;
    percent.insert(percent.end(), own.begin(), own.end());
    use += window.gemm->accelerator_use;
    cost += window.gemm->step_cost();
    alone_s += window.gemm->step_alone_s;
    ++count;
  }
  for (const FeedWindow& window : windows) {
    row.bus_clips_per_s = std::max(row.bus_clips_per_s, window.bus_clips_per_s);
    if (window.ready_clips_per_s <= row.ready_clips_per_s.value_or(0)) continue;
    row.ready_clips_per_s = window.ready_clips_per_s;
    row.ready_share_of_bus = window.ready_clips_per_s / window.bus_clips_per_s;
  }
  if (count == 0) return;
  row.au = use / count;
  row.step_cost = cost / count;
  row.step_alone_ms = 1e3 * alone_s / count;
  if (percent.empty()) return;
  std::sort(percent.begin(), percent.end());
  row.gpu_util_min = percent.front();
  row.gpu_util_p5 = percent[percent.size() / 20];
  row.gpu_util_mean =
      std::accumulate(percent.begin(), percent.end(), 0.0) / static_cast<double>(percent.size());
}

FeedBenchRow make_row(const FeedBenchCase& what, const std::vector<FeedWindow>& windows) {
  FeedBenchRow row;
  row.what = what;
  const FeedWindow& last = windows.back();
  row.num_workers = last.num_workers;
  row.limit = last.limit.name;
  row.step_ms = 1e3 * (last.gemm ? last.gemm->step_s : last.step_s);
  std::vector<double> supplies;
  supplies.reserve(windows.size());
  for (const FeedWindow& window : windows) supplies.push_back(window.supply_clips_per_s);
  row.supply_clips_per_s = observe::median_of(supplies);
  row.times = last.times;
  row.device = last.device;
  row.transfer = last.transfer;
  add_gpu(windows, row);
  row.fallbacks = last.fallbacks;
  row.knobs = last.knobs;
  row.tuner = last.tuner;
  row.intervals = observe::summarize_intervals(joined(windows, false));
  if (last.memory) row.memory_intervals = observe::summarize_intervals(joined(windows, true));
  add_rates(windows, row);
  add_totals(windows, row);
  return row;
}

bool is_for_gpu(const config::Settings& settings) {
  const auto device = cuda::parse_device(settings.run.device).take_or_raise();
  return (device && device->is_cuda()) || settings.gpu.data_gpu || settings.gpu.model_gpu;
}

struct CaseRun {
  std::vector<FeedWindow> windows;
  unsigned num_repeated = 0;
};

// A window counts when the machine was as calm after it as before.
void add_window(Io& io, const FeedBenchCase& what, const FeedWindowOptions& options,
                observe::CalibrationLoop& calibration, CaseRun& run) {
  for (unsigned tries = 0;; ++tries) {
    const double before = calibration.drift();
    FeedWindow window = run_feed_window(io, what, options);
    const double drift = std::max(before, calibration.drift());
    // Steps that the GPU itself times need no calm processor.
    const bool is_calm = window.gemm || drift <= observe::CalibrationLoop::kAllowedDrift;
    if (options.stop.stop_requested()) return;  // cut short: says nothing
    if (is_calm || tries == kRepeatsPerWindow) {
      run.windows.push_back(std::move(window));
      return;
    }
    ++run.num_repeated;
  }
}

// Of each window against its neighbour: by how much the first is above the second.
std::vector<double> excesses(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> shares(std::min(over.size(), under.size()));
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = over[i] / under[i] - 1;
  return shares;
}

}  // namespace

FeedBenchCost cost_between(const FeedBenchRow& with, const FeedBenchRow& without) {
  const std::vector<double> rate = excesses(with.windows_clips_per_s, without.windows_clips_per_s);
  const std::vector<double> cpu =
      excesses(with.windows_cpu_s_per_1000_clips, without.windows_cpu_s_per_1000_clips);
  const observe::MedianRange rates = observe::median_range(rate);
  const observe::MedianRange cpus = observe::median_range(cpu);
  return {.median_rate = -observe::median_of(rate),
          .lowest_rate = -rates.high,
          .highest_rate = -rates.low,
          .best_rate = 1 - with.clips_per_s / without.clips_per_s,
          .median_cpu = observe::median_of(cpu),
          .lowest_cpu = cpus.low,
          .highest_cpu = cpus.high,
          .best_cpu = with.cpu_s_per_1000_clips / without.cpu_s_per_1000_clips - 1};
}

FeedBenchReport bench_feed(Io& io, const FeedBenchOptions& options) {
  const unsigned num_windows = std::max(1U, options.num_windows);
  const FeedWindowOptions window{.seconds = options.seconds / num_windows,
                                 .consumer = options.consumer,
                                 .demand_clips_per_s = options.demand_clips_per_s,
                                 .demand_share = options.demand_share,
                                 .step_ms = options.step_ms,
                                 .stop = options.stop};
  for (const FeedBenchCase& what : options.cases) {
    if (what.path == FeedPath::kResident && !is_for_gpu(what.settings)) {
      raise({.code = &kBenchChoice, .promised = "a GPU for path resident", .found = "device cpu"});
    }
    prepare_case(io, what,
                 {.num_workers = count_cpus().allowed, .stop = options.stop, .say = options.say});
    check_feed_case(io, what, options.stop);
  }
  observe::CalibrationLoop calibration;
  std::vector<CaseRun> runs(options.cases.size());
  // There and back, so that what drifts does not favour the case that comes first.
  for (unsigned round = 0; round < num_windows; ++round) {
    for (std::size_t turn = 0; turn < runs.size() && !options.stop.stop_requested(); ++turn) {
      const std::size_t i = round % 2 == 0 ? turn : runs.size() - 1 - turn;
      add_window(io, options.cases[i], window, calibration, runs[i]);
    }
  }
  FeedBenchReport report{.rows = {}, .calibration_ms = 1e3 * calibration.calmest_s()};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].windows.empty()) continue;
    report.rows.push_back(make_row(options.cases[i], runs[i].windows));
    report.rows.back().num_repeated_windows = runs[i].num_repeated;
  }
  return report;
}

}  // namespace stoker::bench
