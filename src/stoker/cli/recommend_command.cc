// `stoker config recommend`: settings for this machine and this data, measured.
#include "stoker/observe/recommend/recommend.h"

#include <memory>
#include <string>

#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/settings_options.h"
#include "stoker/feed/device/gpu_mode.h"

namespace stoker::cli {
namespace {

struct RecommendArguments {
  std::string gpu;
  std::string out;
  double budget_s = 60;
};

ExitCode run(CommandContext& context, const RecommendArguments& arguments) {
  context.reserve_output(arguments.out);
  context.when_stopped(
      "nothing was written; run it again, with a smaller --budget-s if it took "
      "too long");
  const observe::Recommendation found = observe::recommend(
      {.settings = feed::resolve_auto_device(context.settings(), feed::AutoMel::kMeasured),
       .gpu = arguments.gpu,
       .budget_s = arguments.budget_s,
       .stop = context.stop_token(),
       .say = [&context](std::string_view line) { context.say(line); }});
  const std::string yaml = observe::advice_yaml(found.findings, found.advice);
  if (arguments.out != "-") context.print_raw(yaml);
  if (!arguments.out.empty()) {
    context.write_output(arguments.out, yaml);
    context.report()["out"] = arguments.out;
    context.say("wrote " + arguments.out + "; use it with --config " + arguments.out);
  }
  context.report().update(observe::advice_json(found.findings, found.advice));
  context.report()["yaml"] = yaml;
  return ExitCode::kDone;
}

}  // namespace

void add_recommend_command(const Command& app, CommandContext& context) {
  const Command group =
      app.group("config", "Settings: show, check, recommend, migrate, reference pages");
  const Command command = group.add_command(
      "recommend", "Settings that fit this machine and data, measured, with reasons");
  auto arguments = std::make_shared<RecommendArguments>();
  add_data_argument(command, context);
  command.add_option("--gpu", arguments->gpu,
                     "Card by name that is not here, e.g. rtx4090: from its public figures");
  command.add_option("--out", arguments->out, "Write the settings file, for --config");
  command.add_option("--budget-s", arguments->budget_s, "Seconds for all measurements")
      .positive()
      .show_default();
  add_feed_options(command, context);
  context.on(command, [&context, arguments] { return run(context, *arguments); });
}

}  // namespace stoker::cli
