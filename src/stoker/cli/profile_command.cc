// `stoker profile`: where the time of a batch goes, as a table and as a trace for a viewer.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "stoker/base/number_text.h"
#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/settings_options.h"
#include "stoker/feed/device/gpu_mode.h"
#include "stoker/observe/trace/profile_run.h"

namespace stoker::cli {
namespace {

struct ProfileArguments {
  std::optional<double> step_ms, seconds;
  std::optional<std::uint64_t> num_batches;
  std::string run_folder;
  std::string trace_file;
};

// The file grows meanwhile; standard output gets the parts as they come.
observe::TraceTarget trace_target(CommandContext& context, const std::string& path) {
  context.reserve_output(path);
  observe::TraceTarget target{.path = path};
  if (path == "-")
    target.sink = [&context](std::span<const std::byte> part) -> Result<void> {
      context.write_output("-", part);
      return {};
    };
  return target;
}

observe::ProfileReport profile(CommandContext& context, const ProfileArguments& arguments) {
  const observe::TraceTarget trace = trace_target(context, arguments.trace_file);
  if (!arguments.run_folder.empty()) return observe::profile_run(arguments.run_folder, trace);
  require_data(context, "to feed from");
  constexpr double kUsualS = 5, kLongestS = 1e9;
  observe::ProfileOptions options;
  options.settings = feed::resolve_auto_device(context.settings(), feed::AutoMel::kMeasured);
  options.step_s = 1e-3 * arguments.step_ms.value_or(0);
  options.seconds = arguments.seconds.value_or(arguments.num_batches ? kLongestS : kUsualS);
  if (arguments.num_batches) options.max_batches = *arguments.num_batches;
  options.trace = trace;
  options.stop = context.stop_token();
  if (trace.is_wanted())
    context.when_stopped("the trace is whole up to here: " + arguments.trace_file);
  return observe::profile_feed(options);
}

void tell_trace(CommandContext& context, const ProfileArguments& arguments,
                const observe::TraceSummary& trace) {
  context.report()["trace"] = arguments.trace_file;
  context.report()["trace_batches"] = trace.num_batches;
  context.report()["trace_bytes"] = trace.num_bytes;
  context.report()["trace_lost"] = trace.num_lost;
  context.say(fmt::format("trace     {}: {}, {}; open it in https://ui.perfetto.dev",
                          arguments.trace_file, counted(trace.num_batches, "batch", "batches"),
                          bytes_text(trace.num_bytes)));
  if (trace.num_lost > 0)
    context.warn(
        fmt::format("{} missing in the trace: the feed was faster than its records could "
                    "be taken",
                    counted(trace.num_lost, "batch is", "batches are")));
}

ExitCode run(CommandContext& context, const ProfileArguments& arguments) {
  const observe::ProfileReport report = profile(context, arguments);
  if (arguments.trace_file == "-")
    context.say(report.profile.text());
  else
    context.print_raw(report.profile.text());
  context.report().update(report.profile.json());
  context.report()["lost"] = report.num_lost;
  if (!report.counted.empty()) {
    Json counted = Json::object();
    for (const auto& stage : report.counted) counted[stage.name] = stage.busy_s;
    context.report()["feed"] = Json{{"filled", report.num_filled}, {"stage_s", counted}};
  }
  if (report.machine) {
    context.report()["machine"] = report.machine->json();
    if (!report.machine->gpu)
      context.detail("no GPU in the figures: " + report.machine->why_no_gpu);
  }
  if (report.trace) tell_trace(context, arguments, *report.trace);
  return ExitCode::kDone;
}

}  // namespace

void add_profile_command(const Command& app, CommandContext& context) {
  const Command command = app.add_command(
      "profile", "Which stage is slow: each one's work and waits, and a trace of the run");
  auto arguments = std::make_shared<ProfileArguments>();
  add_data_argument(command, context);
  command
      .add_option("--step-ms", arguments->step_ms,
                  "How long a step of the consumer takes (default: it asks again at once)")
      .positive();
  command.add_option("--batches,--num-batches", arguments->num_batches, "Run so many batches")
      .positive();
  command.add_option("--seconds", arguments->seconds, "Run so long (default: 5 s)").positive();
  command.add_option("--trace", arguments->trace_file,
                     "Write a trace: .json and .json.gz for Chrome, else for Perfetto");
  command
      .add_option("--run", arguments->run_folder,
                  "A training's folder, running or finished: read its records, run nothing")
      .excludes("--step-ms");
  add_feed_options(command, context);
  context.on(command, [&context, arguments] { return run(context, *arguments); });
}

}  // namespace stoker::cli
