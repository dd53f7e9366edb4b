#include "stoker/demo/feed_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/cpu_count.h"
#include "stoker/base/number_text.h"
#include "stoker/base/report/figures.h"
#include "stoker/cache/build/precompute.h"
#include "stoker/feed/open_feed.h"
#include "stoker/observe/feed_consumer.h"

namespace stoker::demo {
namespace {

constexpr double kStepS = 0.003;
constexpr std::uint64_t kBatches = 300;
constexpr std::uint64_t kWarmBatches = 12;
constexpr std::int64_t kBatchSize = 8;

config::Settings race_settings(const std::string& data_folder) {
  config::Settings settings;
  settings.data.path = data_folder;
  settings.batch.batch_size = kBatchSize;
  settings.run.device = "cpu";
  settings.loader.auto_tune_performance = false;
  return settings;
}

DemoLoader run_loader(Io& io, const std::string& name, const config::Settings& settings,
                      const std::stop_token& stop) {
  feed::OpenedFeed opened = feed::open_feed(settings, {.io = &io, .stop = stop});
  observe::FeedSource source(opened.feed);
  observe::ConsumerOptions options{.step_s = kStepS,
                                   .warm_batches = kWarmBatches,
                                   .seconds = 60,
                                   .max_batches = kBatches,
                                   .stop = stop};
  const observe::ConsumerReport paced = observe::run_consumer(source, options);
  options.step_s = 0;
  const observe::ConsumerReport fast = observe::run_consumer(source, options);
  const auto clips = static_cast<double>(std::max<std::uint64_t>(1, fast.num_clips));
  return {.name = name,
          .intervals_s = paced.intervals_s,
          .statistics = observe::summarize_intervals(paced.intervals_s),
          .clips_per_s = paced.clips_per_s(),
          .most_clips_per_s = fast.clips_per_s(),
          .stall_share = paced.stall_share(),
          .cpu_s_per_1000_clips = 1000 * fast.cpu_s / clips};
}

void add_interval_chart(HtmlReport& page, const DemoRace& race) {
  std::vector<ChartSeries> series;
  for (const DemoLoader& loader : race.loaders) {
    ChartSeries line{.name = loader.name, .x = {}, .y = {}};
    for (std::size_t i = 0; i < loader.intervals_s.size(); ++i) {
      line.x.push_back(static_cast<double>(i + 1));
      line.y.push_back(1e3 * loader.intervals_s[i]);
    }
    series.push_back(std::move(line));
  }
  add_line_figure(page,
                  {.title = "Time from batch to batch",
                   .description = "Milliseconds between batches, as the consumer sees them.",
                   .x = {.label = "batch"},
                   .y = {.label = "interval (ms)", .low = 0.0}},
                  series,
                  "Flat at the consumer's own pace is what a GPU wants to see; everything above it "
                  "is time in which it idles.");
}

}  // namespace

DemoRace race_loaders(Io& io, const std::string& data_folder, const std::stop_token& stop) {
  DemoRace race{.step_ms = 1e3 * kStepS, .build_s = 0, .loaders = {}};
  config::Settings settings = race_settings(data_folder);
  cache::PrecomputeOptions build;
  build.num_workers = count_cpus().allowed;
  build.stop = stop;
  const Stopwatch watch;
  cache::precompute(settings, io, build);
  race.build_s = watch.seconds();
  settings.loader.use_native_loading = false;
  settings.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  race.loaders.push_back(run_loader(io, "naive", settings, stop));
  settings.loader.use_native_loading = true;
  race.loaders.push_back(run_loader(io, "native from files", settings, stop));
  settings.loader.preprocessing_mode = config::PreprocessingMode::kPrecompute;
  race.loaders.push_back(run_loader(io, "native from cache", settings, stop));
  return race;
}

void add_race(HtmlReport& page, const DemoRace& race) {
  page.open_section("Naive against native");
  page.add_paragraph(fmt::format(
      "A consumer that would take a batch of {} clips every {:.1f} ms, fed by three loaders that "
      "deliver the same bytes. The naive one reads and computes each utterance when it is asked "
      "for, in the consumer's thread; the native one does so ahead of time on every core, from the "
      "sound files or from a cache of finished frames (built in {}).",
      kBatchSize, race.step_ms, seconds_text(race.build_s)));
  add_interval_chart(page, race);
  ReportTable table{.caption = "as the consumer saw it",
                    .header = {"loader", "batch ms, mean and std", "std/mean", "p99 ms", "stall",
                               "clips/s at this pace", "clips/s at most", "CPU s per 1,000 clips"}};
  for (const DemoLoader& loader : race.loaders) {
    table.rows.push_back(
        {loader.name,
         fmt::format("{:.2f} +- {:.2f}", loader.statistics.mean_ms, loader.statistics.std_ms),
         fmt::format("{:.3f}", loader.statistics.cv()),
         fmt::format("{:.2f}", loader.statistics.p99_ms),
         fmt::format("{:.1f} %", 100 * loader.stall_share),
         grouped(static_cast<std::uint64_t>(loader.clips_per_s)),
         grouped(static_cast<std::uint64_t>(loader.most_clips_per_s)),
         fmt::format("{:.3f}", loader.cpu_s_per_1000_clips)});
  }
  page.add_table(table);
}

}  // namespace stoker::demo
