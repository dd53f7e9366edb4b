// `stoker selftest`: what works on this machine, one line a check.
#include "stoker/bench/selftest/selftest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/json.h"
#include "stoker/bench/selftest/feed_checks.h"
#include "stoker/bench/train_bench.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/terminal.h"
#include "stoker/cli/trainer_call.h"

namespace stoker::cli {
namespace {

std::string own_folder() {
  const char* const given = std::getenv("TMPDIR");
  // Nobody else can have made it: the name is not known before.
  return fmt::format("{}/stoker-selftest-{}-{:x}",
                     given == nullptr || *given == '\0' ? "/tmp" : given, ::getpid(),
                     system_clock().unix_time_ns());
}

std::string check_settings(CommandContext& context) {
  std::size_t num_given = 0;
  for (const config::ValueSource& source : context.loaded().sources)
    num_given += source.kind == config::SourceKind::kDefault ? 0 : 1;
  return fmt::format("{} settings, {} given", context.loaded().sources.size(), num_given);
}

config::Settings tiny_model(const bench::SelftestPlace& place) {
  config::Settings settings = bench::selftest_settings(place);
  settings.training.model_size = config::ModelSize::kTiny;
  settings.batch.batch_size = 2;
  return settings;
}

// Two steps with the smallest model.
std::string check_trainer(CommandContext& context, const bench::SelftestPlace& place) {
  constexpr std::int64_t kNumSteps = 2;
  const train::TrainLibrary library = find_trainer().take_or_raise();
  config::Settings settings = tiny_model(place);
  settings.training.steps = kNumSteps;
  settings.training.checkpoint_dir = place.folder + "/run";
  TrainerTalk talk(context);
  train::CallHooks hooks = talk.hooks();
  hooks.on_event = [](const Json&) {};
  const Json report = library.train(settings, hooks);
  const double num_steps = bench::figure_at(report, "steps").value_or(0);
  bench::expect(num_steps == kNumSteps, "2 steps", fmt::format("{:.0f}", num_steps));
  return fmt::format("{:.0f} steps on the CPU, loss {:.2f}, libtorch {}", num_steps,
                     bench::figure_at(report, "loss_last").value_or(0), library.torch_version());
}

// A second of steps on the GPU, recorded as graphs.
std::string check_graphs(CommandContext& context, const bench::SelftestPlace& place) {
  config::Settings settings = tiny_model(place);
  settings.run.device = "cuda";
  settings.training.graphs = config::OnOffAuto::kOn;
  TrainerTalk talk(context);
  train::CallHooks hooks = talk.hooks();
  hooks.on_event = [](const Json&) {};
  const Json report = find_trainer().take_or_raise().measure(
      settings, {.seconds = 1, .warmup_s = 0.1, .mode = "feed"}, hooks);
  const Json& graphs = report.at("graphs");
  const double num_recorded = bench::figure_at(graphs, "captured").value_or(0);
  bench::expect(num_recorded > 0, "steps recorded as graphs", graphs.dump());
  return fmt::format("{:.0f} steps from {:.0f} graphs",
                     bench::figure_at(report, "steps").value_or(0), num_recorded);
}

std::vector<bench::SelfCheck> all_checks(CommandContext& context, bool with_gpu) {
  std::vector<bench::SelfCheck> checks{
      {"settings", [&context](const bench::SelftestPlace&) { return check_settings(context); },
       "stoker config check FILE names the line"}};
  for (bench::SelfCheck& each : bench::host_checks()) checks.push_back(std::move(each));
  checks.push_back(
      {"trainer",
       [&context](const bench::SelftestPlace& place) { return check_trainer(context, place); },
       "build the trainer and the program from the same source"});
  if (!with_gpu) return checks;
  for (bench::SelfCheck& each : bench::gpu_checks()) checks.push_back(std::move(each));
  checks.push_back(
      {"graphs",
       [&context](const bench::SelftestPlace& place) { return check_graphs(context, place); },
       "--graphs off trains without them, more slowly"});
  return checks;
}

void put(CommandContext& context, const bench::CheckOutcome& outcome) {
  const std::string mark = outcome.is_ok ? coloured("ok  ", Colour::kGreen, Stream::kOut)
                                         : coloured("FAIL", Colour::kRed, Stream::kOut);
  context.print(fmt::format("{} {:<15} {:>5.2f} s  {}", mark, outcome.name, outcome.seconds,
                            escape_control(outcome.figure)));
  if (!outcome.cure.empty()) context.print("     help: " + outcome.cure);
  context.report()["checks"].push_back({{"name", outcome.name},
                                        {"ok", outcome.is_ok},
                                        {"figure", outcome.figure},
                                        {"cure", outcome.cure},
                                        {"seconds", outcome.seconds}});
}

ExitCode run(CommandContext& context, bool with_gpu) {
  std::size_t num_failed = 0, num_checks = 0;
  context.when_stopped("nothing of it stays; run it again");
  bench::SelftestOptions options{
      .place = {.folder = own_folder(), .stop = context.stop_token()},
      .checks = all_checks(context, with_gpu),
      .on_check = [&](const bench::CheckOutcome& outcome) { put(context, outcome); }};
  for (const bench::CheckOutcome& outcome : bench::run_selftest(options)) {
    ++num_checks;
    num_failed += outcome.is_ok ? 0 : 1;
  }
  context.report()["failed"] = num_failed;
  context.print(num_failed == 0 ? fmt::format("all {} checks passed", num_checks)
                                : fmt::format("{} of {} checks failed", num_failed, num_checks));
  return num_failed == 0 ? ExitCode::kDone : ExitCode::kCheckFailed;
}

}  // namespace

void add_selftest_command(const Command& app, CommandContext& context) {
  const Command command = app.add_command(
      "selftest", "What works on this machine: one line a check, in under a minute");
  auto with_gpu = std::make_shared<bool>(false);
  command.add_flag("--gpu", *with_gpu, "Check the GPU as well; fails where there is none");
  context.on(command, [&context, with_gpu] { return run(context, *with_gpu); });
}

}  // namespace stoker::cli
