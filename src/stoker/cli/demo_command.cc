#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "stoker/base/cpu_count.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/demo_gpu_figures.h"
#include "stoker/cli/frame.h"
#include "stoker/observe/demo_story.h"

namespace stoker::cli {
namespace {

void put_gpu(Frame& frame, const observe::DemoStory& story) {
  frame.report()["gpu"] = nullptr;
  if (!story.gpu) return;
  auto& out = frame.report()["gpu"];
  out = {{"name", story.gpu->name}, {"mel_clips_per_s", story.gpu->mel_clips_per_s}};
  frame.print(
      fmt::format("  {:<26} {:.0f} clips/s", "log-mel on the GPU", story.gpu->mel_clips_per_s));
  for (const observe::DemoGpuWay& way : story.gpu->ways) {
    frame.print(fmt::format("  {:<26} {}", way.name, observe::way_text(way)));
    out["ways"].push_back({{"way", way.name},
                           {"clips_per_s", way.clips_per_s},
                           {"limit", way.limit},
                           {"share_of_limit", way.share_of_limit}});
  }
}

ExitCode run(Frame& frame, observe::DemoOptions options) {
  options.num_workers = count_cpus().allowed;
  options.measure_gpu =
      [&frame](const std::string& data_folder) -> std::optional<observe::DemoGpu> {
    try {
      return measure_demo_gpu(data_folder, frame.stop_token());
    } catch (const GpuError& failure) {
      frame.say("demo: the GPU is left out: " + error_line(failure.error()));
      return std::nullopt;
    }
  };
  const observe::DemoStory story =
      observe::tell_demo(system_io(), options, frame.stop_token(),
                         [&](std::string_view part) { frame.say(fmt::format("demo: {}", part)); });
  for (const observe::SurveyRow& row : observe::survey_rows(story.machine))
    frame.print(fmt::format("  {:<26} {}", row.name, row.value));
  frame.print(fmt::format("  {:<26} {} rows, {} accepted, {} rejected", "data set",
                          story.counts.rows, story.counts.accepted, story.counts.rejected));
  frame.print(fmt::format("  {:<26} {:.0f}x real time, back {:.0f}x, {:.2f} dB apart",
                          "log-mel and back", story.sample.mel_times_real_time,
                          story.sample.back_times_real_time, story.sample.mean_difference_db));
  for (const observe::DemoLoader& loader : story.race.loaders)
    frame.print(
        fmt::format("  {:<26} batch {:.2f} +- {:.2f} ms, stall {:.1f} %, at most {:.0f} clips/s",
                    loader.name + " loader", loader.statistics.mean_ms, loader.statistics.std_ms,
                    100 * loader.stall_share, loader.most_clips_per_s));
  put_gpu(frame, story);
  frame.print(fmt::format("open {}/report.html", options.out));
  auto& report = frame.report();
  report["out"] = options.out;
  report["report"] = options.out + "/report.html";
  report["wav"] = options.out + "/returned.wav";
  report["rows"] = story.counts.rows;
  report["accepted"] = story.counts.accepted;
  report["round_trip_db"] = story.sample.mean_difference_db;
  report["stall_share"] = story.race.loaders.back().stall_share;
  for (const observe::DemoLoader& loader : story.race.loaders)
    report["loaders"].push_back({{"loader", loader.name},
                                 {"interval_cv", loader.statistics.cv()},
                                 {"p99_ms", loader.statistics.p99_ms},
                                 {"stall_share", loader.stall_share},
                                 {"clips_per_s", loader.most_clips_per_s}});
  return ExitCode::kDone;
}

}  // namespace

void add_demo_command(CLI::App& app, Frame& frame) {
  CLI::App* command =
      app.add_subcommand("demo", "The whole story on the built-in voice and this machine");
  auto options = std::make_shared<observe::DemoOptions>();
  options->out = "demo";
  command->add_option("--out", options->out, "Folder for the data, the sounds and report.html")
      ->capture_default_str();
  command->add_option("--clips", options->num_utterances, "Utterances to speak")
      ->capture_default_str();
  frame.on(*command, [&frame, options] { return run(frame, *options); });
}

}  // namespace stoker::cli
