// `stoker diagnose`: says why a consumer waits, ranked, with what each cure would bring.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "stoker/base/io/paths.h"
#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/settings_options.h"
#include "stoker/feed/device/gpu_mode.h"
#include "stoker/feed/records/record_places.h"
#include "stoker/observe/diagnose/diagnose.h"
#include "stoker/observe/report/run_page.h"

namespace stoker::cli {
namespace {

struct DiagnoseArguments {
  std::optional<double> step_ms, demand;
  std::optional<std::uint64_t> num_batches;
  double budget_s = 60;
  bool applies = false;
  std::string run_folder;
  std::optional<unsigned> pid;
  std::string report_file;
  std::string report_language = "en";
};

observe::DiagnoseReport watch(CommandContext& context, const DiagnoseArguments& arguments) {
  if (!arguments.run_folder.empty()) return observe::diagnose_run(arguments.run_folder);
  if (arguments.pid) {
    return observe::diagnose_run(
        feed::find_process_records(static_cast<int>(*arguments.pid)).take_or_raise());
  }
  require_data(context, "to feed from");
  observe::DiagnoseOptions options;
  options.settings = feed::resolve_auto_device(context.settings(), feed::AutoMel::kMeasured);
  if (arguments.step_ms) options.step_s = 1e-3 * *arguments.step_ms;
  options.demand_clips_per_s = arguments.demand;
  options.num_batches = arguments.num_batches;
  options.budget_s = arguments.budget_s;
  options.applies = arguments.applies;
  options.stop = context.stop_token();
  options.say = [&context](std::string_view line) { context.say(line); };
  return observe::diagnose(options);
}

// The page of a training's folder shows what else is in it.
std::string page_of(const DiagnoseArguments& arguments, observe::DiagnoseReport report) {
  const bool is_run =
      !arguments.run_folder.empty() && is_folder(system_io(), real_path(arguments.run_folder));
  const observe::RunStory story = is_run
                                      ? observe::load_run_story(system_io(), arguments.run_folder)
                                      : observe::story_of(std::move(report));
  return observe::run_page(story, *observe::language_from(arguments.report_language));
}

ExitCode run(CommandContext& context, const DiagnoseArguments& arguments) {
  context.reserve_output(arguments.report_file);
  observe::DiagnoseReport report = watch(context, arguments);
  const bool is_starved = report.diagnosis.verdict == observe::LoopVerdict::kStarved;
  context.print_raw(observe::diagnosis_text(report.diagnosis));
  context.report().update(observe::diagnosis_json(report.diagnosis));
  if (report.evidence.watch.machine)
    context.report()["machine"] = report.evidence.watch.machine->json();
  if (!arguments.report_file.empty()) {
    context.write_output(arguments.report_file, page_of(arguments, std::move(report)));
    context.report()["report"] = arguments.report_file;
  }
  return is_starved ? ExitCode::kCheckFailed : ExitCode::kDone;
}

}  // namespace

void add_diagnose_command(const Command& app, CommandContext& context) {
  const Command command = app.add_command(
      "diagnose", "Why the GPU idles or would idle: causes, and what each cure would bring");
  auto arguments = std::make_shared<DiagnoseArguments>();
  add_data_argument(command, context);
  command.add_option("--step-ms", arguments->step_ms, "How long a step of the consumer takes")
      .positive();
  command
      .add_option("--demand", arguments->demand,
                  "Clips a second that the consumer takes, instead of --step-ms")
      .positive()
      .excludes("--step-ms");
  command.add_option("--budget-s", arguments->budget_s, "Seconds for all measurements")
      .positive()
      .show_default();
  command
      .add_option("--batches,--num-batches", arguments->num_batches,
                  "Watch so many batches at most")
      .positive();
  command.add_flag("--apply", arguments->applies,
                   "Run the first cure that a setting does, and print what it brought");
  command
      .add_option("--run", arguments->run_folder,
                  "A training's folder, running or finished: read its records, run nothing")
      .excludes("--apply");
  command
      .add_option("--pid", arguments->pid,
                  "A process that runs a feed or a training: read its records, run nothing")
      .in_range(1, 1 << 30)
      .excludes("--run")
      .excludes("--apply");
  command.add_option("--report,--html", arguments->report_file, "Write a page");
  command.add_option("--report-language", arguments->report_language, "Language of the page")
      .one_of({"en", "fa"})
      .show_default();
  add_feed_options(command, context);
  context.on(command, [&context, arguments] { return run(context, *arguments); });
}

}  // namespace stoker::cli
