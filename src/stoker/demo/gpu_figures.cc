#include "stoker/demo/gpu_figures.h"

#include <fmt/format.h>

#include <array>

#include "stoker/base/cpu_count.h"
#include "stoker/base/number_text.h"
#include "stoker/bench/device_mel_bench.h"
#include "stoker/bench/feed_bench.h"
#include "stoker/config/mel_recipe.h"

namespace stoker::demo {
namespace {

constexpr double kSeconds = 0.6;  // for each path
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

std::string rate_text(double clips_per_s) {
  return grouped(static_cast<std::uint64_t>(clips_per_s)) + " clips/s";
}

std::string share_text(const DemoGpuPath& path) {
  return path.share_of_limit > 0
             ? fmt::format("{:.0f} % of: {}", 100 * path.share_of_limit, path.limit)
             : path.limit;
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
    gpu.paths.push_back({.name = std::string(bench::name_of(row.what.path)) + ": " + row.transfer,
                         .clips_per_s = row.clips_per_s,
                         .limit = row.limit,
                         .share_of_limit = row.share_of_limit});
  }
  return gpu;
}

std::string path_text(const DemoGpuPath& path) {
  return rate_text(path.clips_per_s) + (path.limit.empty() ? "" : ", " + share_text(path));
}

void add_gpu(HtmlReport& page, const DemoGpu& gpu) {
  page.open_section("Onto the GPU");
  page.add_paragraph(
      fmt::format("The same data set as batches in the memory of the {}, by each path there is; a "
                  "consumer takes them as fast as they come. Each figure is next to the limit "
                  "that was measured with it.",
                  gpu.name));
  const std::array figures{KeyFigure{.label = "log-mel on the GPU, samples already there",
                                     .value = rate_text(gpu.mel_clips_per_s)}};
  page.add_key_figures(figures);
  ReportTable table{.caption = "batches on the GPU",
                    .header = {"way", "clips a second", "share of the limit"}};
  for (const DemoGpuPath& path : gpu.paths) {
    table.rows.push_back(
        {path.name, grouped(static_cast<std::uint64_t>(path.clips_per_s)), share_text(path)});
  }
  page.add_table(table);
}

}  // namespace stoker::demo
