#include "stoker/demo/gpu_figures.h"

#include <algorithm>

#include "stoker/base/cpu_count.h"
#include "stoker/bench/device_mel_bench.h"
#include "stoker/bench/feed_bench.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::demo {
namespace {

constexpr double kSeconds = 0.6;  // for each way
constexpr std::size_t kMelBatch = 64;
constexpr std::size_t kMelUtterances = 512;

bench::FeedBenchCase case_of(const std::string& data_folder, bench::FeedPath path,
                             config::MelPlace mel_place) {
  config::Settings settings;
  settings.data.path = data_folder;
  settings.run.device = "cuda";
  settings.loader.num_workers = count_cpus().allowed;
  settings.gpu.mel_place = mel_place;
  return {bench::FeedLoader::kNative,
          path,
          {},
          bench::with_path(settings, bench::FeedLoader::kNative, path)};
}

double measure_mel(std::string& gpu_name, const std::stop_token& stop) {
  const bench::DeviceMelBench bench({.num_utterances = kMelUtterances,
                                     .batches = {kMelBatch},
                                     .num_threads = count_cpus().allowed});
  gpu_name = bench.gpu_name();
  const bench::DeviceMelRow row =
      bench.run({.recipe = config::mel_preset("hifigan"), .dtype = config::MelDtype::kF16}, stop);
  return row.speeds.empty() ? 0 : row.speeds.front().utterances_per_s;
}

}  // namespace

DemoGpu measure_demo_gpu(const std::string& data_folder, const std::stop_token& stop) {
  using bench::FeedPath;
  using config::MelPlace;
  DemoGpu gpu;
  gpu.mel_clips_per_s = measure_mel(gpu.name, stop);
  bench::FeedBenchOptions options{
      .cases = {case_of(data_folder, FeedPath::kCached, MelPlace::kCpu),
                case_of(data_folder, FeedPath::kPcm, MelPlace::kGpu),
                case_of(data_folder, FeedPath::kFiles, MelPlace::kGpu),
                case_of(data_folder, FeedPath::kResident, MelPlace::kGpu)},
      .seconds = kSeconds,
      .num_windows = 1,
      .stop = stop};
  for (const bench::FeedBenchRow& row : bench::bench_feed(system_io(), options).rows) {
    gpu.ways.push_back({.name = std::string(bench::name_of(row.what.path)) + ": " + row.transfer,
                        .clips_per_s = row.clips_per_s,
                        .limit = row.limit,
                        .share_of_limit = row.share_of_limit});
  }
  return gpu;
}

}  // namespace stoker::demo
