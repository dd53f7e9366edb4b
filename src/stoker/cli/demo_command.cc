#include <fmt/format.h>

#include <memory>

#include "stoker/base/cpu_count.h"
#include "stoker/base/json.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/demo/story.h"

namespace stoker::cli {
namespace {

void put_gpu(CommandContext& context, const demo::DemoStory& story) {
  context.report()["gpu"] = nullptr;
  if (!story.gpu) return;
  auto& out = context.report()["gpu"];
  out = {{"name", story.gpu->name}, {"mel_clips_per_s", story.gpu->mel_clips_per_s}};
  context.print(
      fmt::format("  {:<26} {:.0f} clips/s", "log-mel on the GPU", story.gpu->mel_clips_per_s));
  for (const demo::DemoGpuPath& path : story.gpu->paths) {
    context.print(fmt::format("  {:<26} {}", path.name, demo::path_text(path)));
    out["ways"].push_back({{"way", path.name},
                           {"clips_per_s", path.clips_per_s},
                           {"limit", path.limit},
                           {"share_of_limit", path.share_of_limit}});
  }
}

ExitCode run(CommandContext& context, demo::DemoOptions options) {
  options.num_workers = count_cpus().allowed;
  const demo::DemoStory story =
      demo::tell_demo(system_io(), options, context.stop_token(),
                      [&](std::string_view part) { context.say(fmt::format("demo: {}", part)); });
  for (const observe::SurveyRow& row : observe::survey_rows(story.machine))
    context.print(fmt::format("  {:<26} {}", row.name, row.value));
  context.print(fmt::format("  {:<26} {} rows, {} accepted, {} rejected", "data set",
                            story.counts.rows, story.counts.accepted, story.counts.rejected));
  context.print(fmt::format("  {:<26} {:.0f}x real time, back {:.0f}x, {:.2f} dB apart",
                            "log-mel and back", story.sample.mel_times_real_time,
                            story.sample.back_times_real_time, story.sample.mean_difference_db));
  for (const demo::DemoLoader& loader : story.race.loaders)
    context.print(
        fmt::format("  {:<26} batch {:.2f} +- {:.2f} ms, stall {:.1f} %, at most {:.0f} clips/s",
                    loader.name + " loader", loader.statistics.mean_ms, loader.statistics.std_ms,
                    100 * loader.stall_share, loader.most_clips_per_s));
  put_gpu(context, story);
  context.print(fmt::format("open {}/report.html", options.out));
  auto& report = context.report();
  report["out"] = options.out;
  report["report"] = options.out + "/report.html";
  report["wav"] = options.out + "/returned.wav";
  report["rows"] = story.counts.rows;
  report["accepted"] = story.counts.accepted;
  report["round_trip_db"] = story.sample.mean_difference_db;
  report["stall_share"] = story.race.loaders.back().stall_share;
  for (const demo::DemoLoader& loader : story.race.loaders)
    report["loaders"].push_back({{"loader", loader.name},
                                 {"interval_cv", loader.statistics.cv()},
                                 {"p99_ms", loader.statistics.p99_ms},
                                 {"stall_share", loader.stall_share},
                                 {"clips_per_s", loader.most_clips_per_s}});
  return ExitCode::kDone;
}

}  // namespace

void add_demo_command(const Command& app, CommandContext& context) {
  const Command command =
      app.add_command("demo", "The whole story on the built-in voice and this machine");
  auto options = std::make_shared<demo::DemoOptions>();
  options->out = "demo";
  command.add_option("--out", options->out, "Folder for the data, the sounds and report.html")
      .show_default();
  command.add_option("--clips", options->num_utterances, "Utterances to speak").show_default();
  context.on(command, [&context, options] { return run(context, *options); });
}

}  // namespace stoker::cli
