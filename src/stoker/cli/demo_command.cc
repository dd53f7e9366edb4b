#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>

#include "stoker/base/cpu_count.h"
#include "stoker/base/json.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/trainer_call.h"
#include "stoker/demo/story.h"

namespace stoker::cli {
namespace {

class LibraryTrainer final : public demo::DemoTrainer {
 public:
  LibraryTrainer(CommandContext& context, train::TrainLibrary library)
      : library_(library), talk_(context) {}

  Json train(const config::Settings& settings,
             const std::function<void(const Json&)>& on_event) override {
    train::CallHooks hooks = talk_.hooks();
    hooks.on_event = [show = hooks.on_event, &on_event](const Json& event) {
      show(event);
      on_event(event);
    };
    return library_.train(settings, hooks);
  }

  Json speak(const demo::DemoSpeech& speech) override {
    train::SynthesisCall call;
    call.checkpoint = speech.checkpoint;
    call.texts = {speech.text};
    call.references = {speech.reference};
    call.out = {speech.wav};
    call.pictures = {speech.picture};
    return library_.synthesize({}, call, talk_.hooks());
  }

 private:
  train::TrainLibrary library_;
  TrainerTalk talk_;
};

Result<std::unique_ptr<demo::DemoTrainer>> open_trainer(CommandContext& context) {
  Result<train::TrainLibrary> library = find_trainer();
  if (!library) return std::move(library).error();
  return std::unique_ptr<demo::DemoTrainer>(std::make_unique<LibraryTrainer>(context, *library));
}

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

// A voice that was trained is what the demo speaks with; without one, what came back from frames.
void put_training(CommandContext& context, const demo::DemoStory& story) {
  auto& report = context.report();
  report["steps"] = 0;
  report["loss_first"] = nullptr;
  report["loss_last"] = nullptr;
  report["stall_share"] = story.race.loaders.back().stall_share;
  if (!story.training) return context.print(fmt::format("  {:<26} left out", "training"));
  const demo::DemoTraining& training = *story.training;
  report["wav"] = training.wav;
  report["steps"] = training.num_steps;
  report["loss_first"] = training.loss_first;
  report["loss_last"] = training.loss_last;
  report["stall_share"] = training.stall_share;
  report["rtf"] = training.rtf;
  context.print(fmt::format("  {:<26} {} steps, loss {:.2f} to {:.2f}, data {:.2f} ms of {:.1f} ms",
                            "training", training.num_steps, training.loss_first, training.loss_last,
                            training.data_ms, training.data_ms + training.compute_ms));
}

ExitCode run(CommandContext& context, demo::DemoOptions options) {
  options.num_workers = count_cpus().allowed;
  const demo::DemoStory story = demo::tell_demo(
      system_io(), options,
      {.say = [&](std::string_view part) { context.say(fmt::format("demo: {}", part)); },
       .open_trainer = [&] { return open_trainer(context); },
       .stop = context.stop_token()});
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
  context.report()["wav"] = options.out + "/returned.wav";
  put_training(context, story);
  context.print(fmt::format("open {}/report.html", options.out));
  auto& report = context.report();
  report["out"] = options.out;
  report["report"] = options.out + "/report.html";
  report["rows"] = story.counts.rows;
  report["accepted"] = story.counts.accepted;
  report["round_trip_db"] = story.sample.mean_difference_db;
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
  command.add_option("--seconds", options->training_s, "Time to train for; 0: no training")
      .show_default();
  context.on(command, [&context, options] { return run(context, *options); });
}

}  // namespace stoker::cli
