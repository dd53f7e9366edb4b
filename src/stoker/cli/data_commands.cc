#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>

#include "stoker/base/bytes.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/base/progress.h"
#include "stoker/base/report/svg.h"
#include "stoker/cache/maintain/cache_reports.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/data_lines.h"
#include "stoker/cli/settings_options.h"
#include "stoker/data/from_settings.h"
#include "stoker/data/index.h"
#include "stoker/data/row_rules.h"
#include "stoker/data/summary.h"
#include "stoker/feed/from_settings.h"
#include "stoker/feed/sampling/expected_padding.h"
#include "stoker/feed/sampling/ranks.h"

namespace stoker::cli {
namespace {

struct DataArguments {
  std::string rejects_file;
  std::string svg_file;
  std::string out_file;
};

// Where the list of rejects goes: as asked, else into the cache's folder, never among the sounds. A
// folder that cannot be written costs the list, not the check.
std::string keep_rejects(CommandContext& context, const data::Index& index,
                         const DataArguments& arguments) {
  if (index.rejects().empty() && arguments.rejects_file.empty()) return {};
  if (!arguments.rejects_file.empty()) {
    context.write_output(arguments.rejects_file, data::rejects_jsonl(index.account().rejects()));
    return arguments.rejects_file;
  }
  Result<std::string> kept = cache::keep_rejects(context.settings(), system_io(), index);
  if (kept) return std::move(kept).value();
  context.warn(fmt::format("the list of rejects was not kept ({}); name a place with --rejects",
                           kept.error().found));
  return {};
}

ExitCode check(CommandContext& context, const DataArguments& arguments) {
  context.reserve_output(arguments.rejects_file);
  data::IndexOptions options = cache::check_options_of(context.settings());
  ProgressBar bar({.task = "check", .unit = "files"}, stderr_surface());
  if (!context.options().quiet) options.progress = &bar;
  const data::Index index = data::scan_index(options, system_io(), context.stop_token());
  context.report().update(data::account_json(index));
  const std::string rejects_file = keep_rejects(context, index, arguments);
  context.report()["rejects_file"] = rejects_file.empty() ? Json() : Json(rejects_file);
  for (const std::string& line : check_lines(index)) context.print(line);
  if (!rejects_file.empty()) context.print("rejects   " + rejects_file);
  index.check_unchanged().take_or_raise();
  if (index.refusal()) raise(*index.refusal());
  return ExitCode::kDone;
}

// Settings that decide the padding besides those of the index.
constexpr std::array<std::string_view, 7> kPaddingSettings{
    "data.batch_size",     "data.batch_frames",  "data.max_shapes",    "data.batch_layout",
    "data.batch_multiple", "data.static_shapes", "data.max_mel_frames"};

// Lengths as the index tells them: trimming, which shortens some, needs the sound itself.
void tell_padding(CommandContext& context, const data::Index& index,
                  const data::IndexOptions& options) {
  const config::Settings settings =
      feed::with_automatic_values(context.settings(), feed::ranks_of(context.settings().loader));
  std::vector<feed::SampledUtterance> rows;
  rows.reserve(index.size());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto num_samples = static_cast<std::uint64_t>(index[i].duration_s() * options.rate_hz);
    rows.push_back(
        {static_cast<std::uint32_t>(num_samples / options.hop_samples), 0, index[i].source});
  }
  try {
    const feed::ExpectedPadding padding =
        feed::expect_padding(std::move(rows), feed::sampler_settings(settings, index));
    put_padding(context.report(), index, padding);
    for (const std::string& line : padding_lines(index, padding)) context.print(line);
  } catch (const Failure& failure) {  // a feed would refuse these settings; the rest is told
    context.report()["padding"] = nullptr;
    context.print(fmt::format("padding   a feed refuses these settings: {}, {}",
                              failure.error().promised, failure.error().found));
  }
}

ExitCode info(CommandContext& context, const DataArguments& arguments) {
  context.reserve_output(arguments.svg_file);
  const data::IndexOptions options = data::index_options_of(context.settings());
  const data::Index index = data::open_index(options, system_io(), context.stop_token());
  const data::Summary summary = data::summarise(index);
  context.report().update(data::account_json(index));
  put_summary(context.report(), summary);
  for (const std::string& line : info_lines(index, summary)) context.print(line);
  tell_padding(context, index, options);
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
  const data::IndexOptions options = data::index_options_of(context.settings());
  const data::Index index = data::open_index(options, system_io(), context.stop_token());
  const SplitLines lines = split_lines(index, options.splits);
  context.write_output(arguments.out_file, lines.text);
  context.report().update(data::account_json(index));
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
                         const char* sentence) {
  const Command command = group.add_command(name, sentence);
  const auto give = [&command, &context](const char* option, const char* path, const char* help) {
    command.on_option(
        option,
        [&context, path, option](const std::string& text) {
          context.give({.path = path, .text = text, .origin = option});
        },
        help);
  };
  add_data_argument(command, context);
  give("--columns", "data.columns",
       "Which column or key holds what, e.g. audio=path,text=sentence,speaker=client_id");
  give("--audio-root", "data.audio_root", "Folder that audio paths in the metadata start from");
  give("--language", "text.language", "Language of the texts");
  give("--split", "data.split", "Which part of the rows to use: all, train or eval");
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
  const Command checking =
      add_data_command(group, context, "check", "Read every row and file and list what is wrong");
  checking.add_option("--rejects", arguments->rejects_file,
                      "Where the list of rejects goes (rejects.jsonl in the cache's folder)");
  context.on(checking, [&context, arguments] { return check(context, *arguments); });
  const Command looking = add_data_command(
      group, context, "info", "Durations, rates, speakers, characters, expected padding");
  looking.add_option("--svg", arguments->svg_file, "Histogram of durations as a picture");
  add_setting_options(looking, context, kPaddingSettings, "Padding options");
  context.on(looking, [&context, arguments] { return info(context, *arguments); });
  const Command splitting =
      add_data_command(group, context, "split", "Write which id belongs to which split");
  splitting.add_option("--out", arguments->out_file, "File to write: id|split, one row a line")
      .required();
  context.on(splitting, [&context, arguments] { return split(context, *arguments); });
}

}  // namespace stoker::cli
