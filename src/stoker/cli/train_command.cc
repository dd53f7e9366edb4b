// `stoker train`: hands the settings to the trainer's library, shows how it goes on, and reports
// what it says.
#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "stoker/base/number_text.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/settings_options.h"
#include "stoker/cli/trainer_call.h"

namespace stoker::cli {
namespace {

// A key may be null, where nothing was measured.
std::optional<double> figure(const Json& report, std::string_view key) {
  try {
    return report.at(key).number();
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

std::string figure_of(const Json& report, std::string_view key, std::string_view form) {
  const std::optional<double> value = figure(report, key);
  return value ? fmt::format(fmt::runtime(form), *value) : std::string("not measured");
}

void print_summary(CommandContext& context, const Json& report) {
  context.print(fmt::format("steps      {}, loss {} -> {}", figure_of(report, "steps", "{:.0f}"),
                            figure_of(report, "loss_first", "{:.3f}"),
                            figure_of(report, "loss_last", "{:.3f}")));
  context.print(fmt::format("speed      {} clips/s, {} frames/s",
                            figure_of(report, "clips_per_s", "{:.1f}"),
                            figure_of(report, "frames_per_s", "{:.0f}")));
  context.print(fmt::format("time       data {} ms, compute {} ms a step",
                            figure_of(report, "data_ms", "{:.2f}"),
                            figure_of(report, "compute_ms", "{:.1f}")));
  if (const auto parameters = figure(report, "parameters"))
    context.print(
        fmt::format("model      {} parameters", grouped(static_cast<std::uint64_t>(*parameters))));
  if (report.contains("checkpoint") && report.at("checkpoint").dump() != "null")
    context.print(fmt::format("checkpoint {}", report.at("checkpoint").text()));
}

ExitCode run(CommandContext& context) {
  const config::Settings& settings = context.settings();
  const train::TrainLibrary library = find_trainer().take_or_raise();
  TrainerTalk talk(context);
  const Json report = library.train(settings, talk.hooks());
  context.report().update(report);
  if (!context.stop_token().stop_requested()) print_summary(context, report);
  return ExitCode::kDone;
}

}  // namespace

void add_train_command(const Command& app, CommandContext& context) {
  const Command command = app.add_command("train", "Train a text-to-speech model on a data set");
  add_data_argument(command, context);
  add_train_options(command, context);
  command.before_arguments([command, &context] { add_old_flags(command, context, kOldPrograms); });
  context.on(command, [&context] { return run(context); });
}

}  // namespace stoker::cli
