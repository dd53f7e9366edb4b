#include <fmt/format.h>

#include <memory>
#include <string>

#include "stoker/base/bytes.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/base/progress.h"
#include "stoker/base/report/svg.h"
#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/data_lines.h"
#include "stoker/cli/settings_options.h"
#include "stoker/data/from_settings.h"
#include "stoker/data/index.h"
#include "stoker/data/row_rules.h"
#include "stoker/data/summary.h"

namespace stoker::cli {
namespace {

struct DataArguments {
  std::string columns;
  std::string rejects_file;
  std::string svg_file;
  std::string out_file;
};

data::IndexOptions options_of(CommandContext& context, const DataArguments& arguments) {
  data::IndexOptions options = data::index_options_of(context.settings());
  if (!arguments.columns.empty())
    for (data::SourceOptions& source : options.sources) source.columns = arguments.columns;
  return options;
}

// Where the list of rejects goes: as asked, else into the cache's folder, never among the sounds. A
// folder that cannot be written costs the list, not the check.
std::string keep_rejects(CommandContext& context, const data::Index& index,
                         const DataArguments& arguments) {
  if (index.rejects().empty() && arguments.rejects_file.empty()) return {};
  const std::string lines = data::rejects_jsonl(index.account().rejects());
  if (!arguments.rejects_file.empty()) {
    context.write_output(arguments.rejects_file, lines);
    return arguments.rejects_file;
  }
  try {
    std::string path = cache_folder(context) + "/rejects.jsonl";
    context.write_output(path, lines);
    return path;
  } catch (const Failure& failure) {
    context.warn(fmt::format("the list of rejects was not kept ({}); name a place with --rejects",
                             failure.error().found));
    return {};
  }
}

ExitCode check(CommandContext& context, const DataArguments& arguments) {
  context.reserve_output(arguments.rejects_file);
  data::IndexOptions options = options_of(context, arguments);
  options.check = data::FileCheck::kContent;
  const config::TextSettings& text = context.settings().text;
  if (text.vocabulary != "phonemes") options.text = data::tokenizer_options_of(text);
  ProgressBar bar({.task = "check", .unit = "files"}, stderr_surface());
  if (!context.options().quiet) options.progress = &bar;
  const data::Index index = data::scan_index(options, system_io(), context.stop_token());
  put_counts(context.report(), index);
  const std::string rejects_file = keep_rejects(context, index, arguments);
  context.report()["rejects_file"] = rejects_file.empty() ? Json() : Json(rejects_file);
  for (const std::string& line : check_lines(index)) context.print(line);
  if (!rejects_file.empty()) context.print("rejects   " + rejects_file);
  index.check_unchanged().take_or_raise();
  if (index.refusal()) raise(*index.refusal());
  return ExitCode::kDone;
}

ExitCode info(CommandContext& context, const DataArguments& arguments) {
  context.reserve_output(arguments.svg_file);
  const data::Index index =
      data::open_index(options_of(context, arguments), system_io(), context.stop_token());
  const data::Summary summary = data::summarise(index);
  put_counts(context.report(), index);
  put_summary(context.report(), summary);
  for (const std::string& line : info_lines(index, summary)) context.print(line);
  if (arguments.svg_file.empty()) return ExitCode::kDone;
  const ChartFrame chart{
      .title = "Durations",
      .description = fmt::format("{} utterances, mean {:.2f} s", grouped(index.size()),
                                 summary.durations.mean_s),
      .x = {.label = "duration (s)", .low = 0.0},
      .y = {.label = "utterances"}};
  context.write_output(arguments.svg_file, histogram_chart(chart, summary.durations_s, 40));
  context.report()["svg"] = arguments.svg_file;
  context.print("chart     " + arguments.svg_file);
  return ExitCode::kDone;
}

ExitCode split(CommandContext& context, const DataArguments& arguments) {
  context.reserve_output(arguments.out_file);
  const data::IndexOptions options = options_of(context, arguments);
  const data::Index index = data::open_index(options, system_io(), context.stop_token());
  const SplitLines lines = split_lines(index, options.splits);
  context.write_output(arguments.out_file, lines.text);
  put_counts(context.report(), index);
  context.report()["out"] = arguments.out_file;
  context.report()["train"] = lines.num_train;
  context.report()["eval"] = lines.num_eval;
  context.report()["unused"] = lines.num_unused;
  context.print(fmt::format("train {} + eval {} + unused {} rows written to {}",
                            grouped(lines.num_train), grouped(lines.num_eval),
                            grouped(lines.num_unused), arguments.out_file));
  return ExitCode::kDone;
}

Command add_data_command(const Command& group, CommandContext& context, const char* name,
                         const char* sentence, const std::shared_ptr<DataArguments>& arguments) {
  const Command command = group.add_command(name, sentence);
  const auto give = [&command, &context](const char* option, const char* path, const char* help) {
    command.on_option(
        option,
        [&context, path, option](const std::string& text) {
          context.give({.path = path, .text = text, .origin = option});
        },
        help);
  };
  give("folder", "data.path", "Folder or metadata file of the data set (data.path)");
  command.add_option("--columns", arguments->columns,
                     "Column map of a table, e.g. audio=path,text=sentence,speaker=client_id");
  give("--audio-root", "data.audio_root", "Folder that audio paths in the metadata start from");
  give("--language", "text.language", "Language of the texts");
  give("--num-workers", "data.num_workers", "Threads that check files");
  give("--max-bad-fraction", "data.max_bad_fraction", "Share of rows that may be bad");
  give("--bad-inputs", "data.bad_inputs", "skip within the bound, or fail at the first");
  add_index_options(command, context);
  return command;
}

}  // namespace

void add_data_commands(const Command& app, CommandContext& context) {
  const Command group = app.group("data", "Data sets: make, check, look at, split");
  const auto arguments = std::make_shared<DataArguments>();
  const Command checking = add_data_command(
      group, context, "check", "Read every row and file and list what is wrong", arguments);
  checking.add_option("--rejects", arguments->rejects_file,
                      "Where the list of rejects goes (rejects.jsonl in the cache's folder)");
  context.on(checking, [&context, arguments] { return check(context, *arguments); });
  const Command looking = add_data_command(
      group, context, "info", "Durations, rates, speakers, characters, histogram", arguments);
  looking.add_option("--svg", arguments->svg_file, "Histogram of durations as a picture");
  context.on(looking, [&context, arguments] { return info(context, *arguments); });
  const Command splitting =
      add_data_command(group, context, "split", "Write which id belongs to which split", arguments);
  splitting.add_option("--out", arguments->out_file, "File to write: id|split, one row a line")
      .required();
  context.on(splitting, [&context, arguments] { return split(context, *arguments); });
}

}  // namespace stoker::cli
