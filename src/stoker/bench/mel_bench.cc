#include "stoker/bench/mel_bench.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/audio/mel/mel_filterbank.h"
#include "stoker/base/clock.h"
#include "stoker/base/machine_figures.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/observe/feed_limits.h"
#include "stoker/observe/statistics.h"

namespace stoker::bench {
namespace {

struct WorkerResult {
  std::vector<double> group_s;
  std::vector<double> bursts_gflops;
  double cpu_s = 0;
  bool repeatable = true;
};

// One thread's share: groups of clips with a burst of multiply-adds before each, all outputs
// compared with `expected`. Only the groups are timed.
class Worker {
 public:
  Worker(const audio::LogMel& mel, const std::vector<float>& expected)
      : mel_(&mel),
        expected_(&expected),
        clip_(observe::measuring_clip()),
        out_(expected.size()),
        workspace_(mel.make_workspace(clip_.size())) {}

  WorkerResult run(double seconds, const std::stop_token& stop) {
    WorkerResult result;
    run_group(result);  // warm-up: caches, pages, clock
    result = {};
    const Stopwatch watch;
    while (!stop.stop_requested() && (result.group_s.empty() || watch.seconds() < seconds)) {
      result.bursts_gflops.push_back(fma_burst_gflops(mel_->level()));
      run_group(result);
    }
    return result;
  }

 private:
  void run_group(WorkerResult& result) {
    std::ranges::fill(out_, 0.0F);
    const double cpu_before_s = thread_cpu_s();
    const Stopwatch watch;
    for (std::size_t i = 0; i < kGroupClips; ++i) {
      mel_->run(clip_, audio::mel_view(out_, mel_->num_mels()), workspace_);
    }
    result.group_s.push_back(watch.seconds());
    result.cpu_s += thread_cpu_s() - cpu_before_s;
    const std::size_t size_bytes = out_.size() * sizeof(float);
    if (std::memcmp(out_.data(), expected_->data(), size_bytes) != 0) result.repeatable = false;
  }

  const audio::LogMel* mel_;
  const std::vector<float>* expected_;
  std::vector<std::int16_t> clip_;
  std::vector<float> out_;
  audio::LogMel::Workspace workspace_;
};

std::vector<float> mel_of_clip(const audio::LogMel& mel) {
  const std::vector<std::int16_t> clip = observe::measuring_clip();
  auto workspace = mel.make_workspace(clip.size());
  std::vector<float> out(mel.num_frames(clip.size()) * mel.num_mels());
  mel.run(clip, audio::mel_view(out, mel.num_mels()), workspace);
  return out;
}

std::vector<WorkerResult> run_workers(const MelBenchOptions& options, const audio::LogMel& mel,
                                      const std::vector<float>& expected,
                                      const std::stop_token& stop) {
  std::vector<WorkerResult> results(options.num_threads);
  // Made before the threads, so that none measures while another still prepares.
  std::vector<Worker> workers;
  for (std::size_t i = 0; i < results.size(); ++i) workers.emplace_back(mel, expected);
  run_parallel(static_cast<unsigned>(results.size()), results.size(),
               [&](std::size_t i) { results[i] = workers[i].run(options.seconds, stop); });
  return results;
}

void fill_speeds(const std::vector<WorkerResult>& results, MelBenchRow& row) {
  row.repeatable = true;
  double cpu_s = 0;
  double calm = 0;
  for (const WorkerResult& result : results) {
    double total_s = 0;
    for (const double group_s : result.group_s) total_s += group_s;
    const auto clips = static_cast<double>(result.group_s.size() * kGroupClips);
    row.num_clips += result.group_s.size() * kGroupClips;
    row.clips_per_s += clips / total_s;
    row.median_clips_per_s += kGroupClips / observe::median_of(result.group_s);
    row.best_clips_per_s += kGroupClips / std::ranges::min(result.group_s);
    const double peak = std::ranges::max(result.bursts_gflops);
    row.peak_gflops += peak;
    calm += observe::median_of(result.bursts_gflops) / peak;
    cpu_s += result.cpu_s;
    row.repeatable = row.repeatable && result.repeatable;
  }
  row.calm = calm / static_cast<double>(results.size());
  row.cpu_s_per_1000_clips = 1000.0 * cpu_s / static_cast<double>(row.num_clips);
}

void fill_stages(const audio::LogMel& mel, MelBenchRow& row) {
  const std::vector<std::int16_t> clip = observe::measuring_clip();
  auto workspace = mel.make_workspace(clip.size());
  const std::size_t frames = mel.num_frames(clip.size());
  std::vector<float> out(frames * mel.num_mels());
  row.stage_ns_per_frame.fill(HUGE_VAL);
  // The best of short rounds, as for the speed itself.
  for (int round = 0; round < 40; ++round) {
    audio::MelStageTimes times;
    workspace.measure_into(&times);
    mel.run(clip, audio::mel_view(out, mel.num_mels()), workspace);
    for (std::size_t s = 0; s < times.spent.size(); ++s) {
      const double ns = static_cast<double>(times.spent[s].count()) / static_cast<double>(frames);
      row.stage_ns_per_frame[s] = std::min(row.stage_ns_per_frame[s], ns);
    }
  }
}

}  // namespace

double mel_flops_per_frame(const config::MelRecipe& recipe) {
  const auto n = static_cast<double>(recipe.n_fft);
  const audio::MelBands bands = audio::sparse_bands(recipe);
  const auto bins = static_cast<double>(bands.end_bin - bands.first_bin);
  const double per_bin = recipe.power == 1 ? 8.0 : 4.0;
  const double log = recipe.log == config::MelLog::kNone ? 0.0 : 25.0;
  return 2.5 * n * std::log2(n) + static_cast<double>(recipe.win_samples) + bins * (per_bin + 4.0) +
         static_cast<double>(recipe.num_mels) * log;
}

MelBenchRow bench_mel(const MelBenchOptions& options, const MelReference& reference,
                      const std::stop_token& stop) {
  const audio::LogMel mel(options.recipe, options.level);
  const std::vector<float> expected = mel_of_clip(mel);
  MelBenchRow row;
  row.level = options.level;
  row.num_threads = options.num_threads;
  row.difference = compare_mel(options.recipe, reference, expected);
  row.accurate = within_tolerance(options.recipe, row.difference);
  fill_speeds(run_workers(options, mel, expected, stop), row);
  fill_stages(mel, row);
  const auto frames = static_cast<double>(reference.num_frames);
  row.gflops = mel_flops_per_frame(options.recipe) * frames * row.best_clips_per_s * 1e-9;
  row.share_of_peak = row.gflops / row.peak_gflops;
  return row;
}

}  // namespace stoker::bench
