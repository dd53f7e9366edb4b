#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/base/cpu_count.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/base/progress.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/data/errors.h"
#include "stoker/data/voice/data_set_maker.h"

namespace stoker::cli {
namespace {

namespace voice = data::voice;

struct MakeArguments {
  voice::MakeOptions options;
  std::string language = "en";
  std::string lengths = "natural";
  std::string num_workers = "auto";
  bool overwrite = false;
};

unsigned parse_workers(const std::string& text) {
  constexpr unsigned kMostWorkers = 1024;
  if (text == "auto") return count_cpus().allowed;
  unsigned value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && stop == text.data() + text.size() && value <= kMostWorkers) {
    return value;
  }
  raise({.code = &data::kMakeOption, .promised = "--num-workers auto or 0 to 1024", .found = text});
}

ExitCode make(CommandContext& context, const MakeArguments& arguments) {
  voice::MakeOptions options = arguments.options;
  options.language = voice::parse_language(arguments.language).take_or_raise();
  options.lengths = voice::parse_lengths(arguments.lengths).take_or_raise();
  options.num_workers = parse_workers(arguments.num_workers);
  options.existing =
      arguments.overwrite ? voice::ExistingData::kReplace : voice::ExistingData::kRefuse;
  ProgressBar bar({.task = "make", .unit = "utterances", .num_total = options.num_utterances},
                  stderr_surface());
  Progress& progress = context.options().quiet ? no_progress() : bar;
  context.when_stopped("the folder is incomplete; run the same command with --overwrite");
  const Stopwatch watch;
  const auto report =
      voice::make_data_set(system_io(), options, context.stop_token(), progress).take_or_raise();
  if (report.num_made < options.num_utterances) {
    context.when_stopped(fmt::format(
        "{} of {} utterances were made, and no metadata; run the same command with --overwrite",
        grouped(report.num_made), grouped(options.num_utterances)));
    return ExitCode::kDone;
  }
  context.report().update(voice::report_json(options, report));
  // Speakers take turns: a set with fewer utterances than speakers has only the first of them.
  const std::uint64_t num_speakers = std::min<std::uint64_t>(options.num_speakers, report.num_made);
  context.print(fmt::format(
      "{}, {} of speech by {} in {} ({:.0f}x real time)",
      counted(report.num_made, "utterance", "utterances"), seconds_text(report.audio_s),
      counted(num_speakers, "speaker", "speakers"), options.out, report.audio_s / watch.seconds()));
  context.print(fmt::format("tree digest {}", report.tree_digest.hex()));
  return ExitCode::kDone;
}

}  // namespace

void add_data_make_command(const Command& app, CommandContext& context) {
  const Command data = app.group("data", "Data sets: make, check, look at, split");
  const Command command =
      data.add_command("make", "A data set in LJSpeech layout spoken by the built-in voice");
  auto arguments = std::make_shared<MakeArguments>();
  voice::MakeOptions& options = arguments->options;
  command.add_option("--out", options.out, "Folder to write; must be empty").required();
  command.add_option("--clips", options.num_utterances, "Number of utterances").required();
  command.add_option("--speakers", options.num_speakers, "Number of voices").show_default();
  command.add_option("--language", arguments->language, "Language of the sentences")
      .one_of({"en", "fa"})
      .show_default();
  command.add_option("--sample-rate", options.rate_hz, "Samples a second (Hz), 8000 to 48000")
      .show_default();
  command
      .add_option("--lengths", arguments->lengths,
                  "natural, ljspeech (1.1 to 10.1 s, mean 6.6 s) or uniform:A-B (seconds)")
      .show_default();
  command.add_option("--seed", options.seed, "Decides every byte").show_default();
  command.add_option("--num-workers", arguments->num_workers, "Threads; changes no byte")
      .show_default();
  command.add_flag("--overwrite", arguments->overwrite, "Replace a data set made before");
  context.on(command, [&context, arguments] { return make(context, *arguments); });
}

}  // namespace stoker::cli
