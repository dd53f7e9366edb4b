// `stoker report`: one HTML file that explains a training, running, finished or broken off.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "stoker/base/number_text.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/observe/report/run_page.h"

namespace stoker::cli {
namespace {

struct ReportArguments {
  std::string run_folder;
  std::string file;
  std::string language = "en";
};

std::string_view status_text(observe::RunStatus status) {
  switch (status) {
    case observe::RunStatus::kRunning:
      return "running";
    case observe::RunStatus::kFinished:
      return "finished";
    case observe::RunStatus::kKilled:
      return "killed";
    case observe::RunStatus::kUnknown:
      break;
  }
  return "unknown";
}

Json missing_json(const observe::RunStory& story) {
  Json missing = Json::array();
  for (const observe::MissingPart& part : story.missing)
    missing.push_back(Json{{"file", part.file},
                           {"reason", part.reason.empty() ? "it is not there" : part.reason}});
  return missing;
}

ExitCode run(CommandContext& context, const ReportArguments& arguments) {
  const std::string file =
      arguments.file.empty() ? arguments.run_folder + "/report.html" : arguments.file;
  context.reserve_output(file);
  const observe::RunStory story = observe::load_run_story(system_io(), arguments.run_folder);
  const std::string page = observe::run_page(story, *observe::language_from(arguments.language));
  context.write_output(file, page);
  const std::string sentence = observe::story_sentence(story);
  context.print(sentence);
  for (const observe::MissingPart& part : story.missing)
    context.say(fmt::format("not in the report: {}{}", part.file,
                            part.reason.empty() ? ", which is not there" : ": " + part.reason));
  context.print(
      fmt::format("report {}, {}", file, bytes_text(static_cast<std::uint64_t>(page.size()))));
  Json& report = context.report();
  report["run"] = arguments.run_folder;
  report["report"] = file;
  report["bytes"] = page.size();
  report["status"] = status_text(story.status);
  report["sentence"] = sentence;
  if (story.watched) {
    report["verdict"] = observe::name_of(story.watched->diagnosis.verdict);
    report["stall_share"] = story.watched->diagnosis.stall_share;
    report["records"] = story.watched->evidence.watch.records.size();
  }
  report["metrics_lines"] = story.metrics.num_lines();
  report["machine_lines"] = story.machine.num_lines();
  report["missing"] = missing_json(story);
  return ExitCode::kDone;
}

}  // namespace

void add_report_command(const Command& app, CommandContext& context) {
  const Command command = app.add_command(
      "report", "One HTML file that explains a training, running, finished or broken off");
  auto arguments = std::make_shared<ReportArguments>();
  command.add_option("run", arguments->run_folder, "The training's folder").required();
  command.add_option("--report,--html", arguments->file,
                     "File to write (default: report.html in the folder; -: stdout)");
  command.add_option("--language", arguments->language, "Language of the page")
      .one_of({"en", "fa"})
      .show_default();
  context.on(command, [&context, arguments] { return run(context, *arguments); });
}

}  // namespace stoker::cli
