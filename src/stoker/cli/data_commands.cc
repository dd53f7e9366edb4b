#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "stoker/base/bytes.h"
#include "stoker/base/number_text.h"
#include "stoker/base/progress.h"
#include "stoker/base/svg.h"
#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_group.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/data_lines.h"
#include "stoker/cli/frame.h"
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

data::IndexOptions options_of(Frame& frame, const DataArguments& arguments) {
  data::IndexOptions options = data::index_options_of(frame.settings());
  if (!arguments.columns.empty())
    for (data::SourceOptions& source : options.sources) source.columns = arguments.columns;
  return options;
}

// Where the list of rejects goes: as asked, else into the cache's folder, never among the sounds. A
// folder that cannot be written costs the list, not the check.
std::string keep_rejects(Frame& frame, const data::Index& index, const DataArguments& arguments) {
  if (index.rejects().empty() && arguments.rejects_file.empty()) return {};
  const std::string lines = data::rejects_jsonl(index.account().rejects());
  if (!arguments.rejects_file.empty()) {
    frame.write_output(arguments.rejects_file, lines);
    return arguments.rejects_file;
  }
  try {
    std::string path = cache_folder(frame) + "/rejects.jsonl";
    frame.write_output(path, lines);
    return path;
  } catch (const Failure& failure) {
    frame.warn(fmt::format("the list of rejects was not kept ({}); name a place with --rejects",
                           failure.error().found));
    return {};
  }
}

// Null where the symbols are not made from the text.
std::shared_ptr<const text::Tokenizer> tokenizer_of(const config::TextSettings& settings) {
  if (settings.vocabulary == "phonemes") return nullptr;
  return std::make_shared<const text::Tokenizer>(data::tokenizer_options_of(settings));
}

ExitCode check(Frame& frame, const DataArguments& arguments) {
  frame.reserve_output(arguments.rejects_file);
  data::IndexOptions options = options_of(frame, arguments);
  options.check = data::FileCheck::kContent;
  options.tokenizer = tokenizer_of(frame.settings().text);
  ProgressBar bar({.task = "check", .unit = "files"}, stderr_surface());
  if (!frame.options().quiet) options.progress = &bar;
  const data::Index index = data::scan_index(options, system_io(), frame.stop_token());
  put_counts(frame.report(), index);
  const std::string rejects_file = keep_rejects(frame, index, arguments);
  frame.report()["rejects_file"] =
      rejects_file.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(rejects_file);
  for (const std::string& line : check_lines(index)) frame.print(line);
  if (!rejects_file.empty()) frame.print("rejects   " + rejects_file);
  index.check_unchanged().take_or_raise();
  if (index.refusal()) raise(*index.refusal());
  return ExitCode::kDone;
}

ExitCode info(Frame& frame, const DataArguments& arguments) {
  frame.reserve_output(arguments.svg_file);
  const data::Index index =
      data::open_index(options_of(frame, arguments), system_io(), frame.stop_token());
  const data::Summary summary = data::summarise(index);
  put_counts(frame.report(), index);
  put_summary(frame.report(), summary);
  for (const std::string& line : info_lines(index, summary)) frame.print(line);
  if (arguments.svg_file.empty()) return ExitCode::kDone;
  const ChartFrame chart{
      .title = "Durations",
      .description = fmt::format("{} utterances, mean {:.2f} s", grouped(index.size()),
                                 summary.durations.mean_s),
      .x = {.label = "duration (s)", .low = 0.0},
      .y = {.label = "utterances"}};
  frame.write_output(arguments.svg_file, histogram_chart(chart, summary.durations_s, 40));
  frame.report()["svg"] = arguments.svg_file;
  frame.print("chart     " + arguments.svg_file);
  return ExitCode::kDone;
}

ExitCode split(Frame& frame, const DataArguments& arguments) {
  frame.reserve_output(arguments.out_file);
  const data::IndexOptions options = options_of(frame, arguments);
  const data::Index index = data::open_index(options, system_io(), frame.stop_token());
  const SplitLines lines = split_lines(index, options.splits);
  frame.write_output(arguments.out_file, lines.text);
  put_counts(frame.report(), index);
  frame.report()["out"] = arguments.out_file;
  frame.report()["train"] = lines.num_train;
  frame.report()["eval"] = lines.num_eval;
  frame.report()["unused"] = lines.num_unused;
  frame.print(fmt::format("train {} + eval {} + unused {} rows written to {}",
                          grouped(lines.num_train), grouped(lines.num_eval),
                          grouped(lines.num_unused), arguments.out_file));
  return ExitCode::kDone;
}

CLI::App* add_data_command(CLI::App& group, Frame& frame, const char* name, const char* sentence,
                           const std::shared_ptr<DataArguments>& arguments) {
  CLI::App* command = group.add_subcommand(name, sentence);
  const auto give = [command, &frame](const char* option, const char* path, const char* help) {
    return command->add_option_function<std::string>(
        option,
        [&frame, path, option](const std::string& text) {
          frame.give({.path = path, .text = text, .origin = option});
        },
        help);
  };
  give("folder", "data.path", "Folder or metadata file of the data set (data.path)");
  command->add_option("--columns", arguments->columns,
                      "Column map of a table, e.g. audio=path,text=sentence,speaker=client_id");
  give("--audio-root", "data.audio_root", "Folder that audio paths in the metadata start from");
  give("--language", "text.language", "Language of the texts");
  give("--num-workers", "data.num_workers", "Threads that check files");
  give("--max-bad-fraction", "data.max_bad_fraction", "Share of rows that may be bad");
  give("--bad-inputs", "data.bad_inputs", "skip within the bound, or fail at the first");
  add_index_options(*command, frame);
  return command;
}

}  // namespace

void add_data_commands(CLI::App& app, Frame& frame) {
  CLI::App& group = command_group(app, "data", "Data sets: make, check, look at, split");
  const auto arguments = std::make_shared<DataArguments>();
  CLI::App* checking = add_data_command(
      group, frame, "check", "Read every row and file and list what is wrong", arguments);
  checking->add_option("--rejects", arguments->rejects_file,
                       "Where the list of rejects goes (rejects.jsonl in the cache's folder)");
  frame.on(*checking, [&frame, arguments] { return check(frame, *arguments); });
  CLI::App* looking = add_data_command(
      group, frame, "info", "Durations, rates, speakers, characters, histogram", arguments);
  looking->add_option("--svg", arguments->svg_file, "Histogram of durations as a picture");
  frame.on(*looking, [&frame, arguments] { return info(frame, *arguments); });
  CLI::App* splitting =
      add_data_command(group, frame, "split", "Write which id belongs to which split", arguments);
  splitting->add_option("--out", arguments->out_file, "File to write: id|split, one row a line")
      ->required();
  frame.on(*splitting, [&frame, arguments] { return split(frame, *arguments); });
}

}  // namespace stoker::cli
