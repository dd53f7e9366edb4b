#include <fmt/format.h>

#include <memory>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/maintain/cache_reports.h"
#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/settings_options.h"
#include "stoker/feed/device/gpu_mode.h"

namespace stoker::cli {
namespace {

struct PrecomputeArguments {
  bool overwrite = false;
  bool break_lock = false;
  bool no_wait = false;
  std::string rejects_file;
};

// Utterances and their records; a speed only where something was built.
std::string built_line(const cache::BuildReport& build, double seconds) {
  std::uint64_t num_built = 0;
  for (const auto& [kind, counts] : build.kinds) num_built += counts.built;
  if (num_built == 0)
    return fmt::format("nothing to build: {} in the cache, {}, checked in {}",
                       counted(build.rows_reused, "utterance", "utterances"),
                       bytes_text(build.size_bytes), seconds_text(seconds));
  return fmt::format("{} built ({}), {} reused; {} in {}, {} utterances/s",
                     counted(build.rows_built, "utterance", "utterances"),
                     counted(num_built, "record", "records"), grouped(build.rows_reused),
                     bytes_text(build.size_bytes), seconds_text(seconds),
                     per_second_text(static_cast<double>(build.rows_built) / seconds));
}

ExitCode run(CommandContext& context, const PrecomputeArguments& arguments) {
  require_data(context, "to build its cache");
  context.report()["fallbacks"] = feed::check_build_device(context.settings());
  context.reserve_output(arguments.rejects_file);
  ProgressBar bar({.task = "build cache", .unit = "records"}, stderr_surface());
  cache::PrecomputeOptions options;
  options.overwrite = arguments.overwrite ? cache::Overwrite::kYes : cache::Overwrite::kNo;
  options.break_lock = arguments.break_lock ? cache::BreakLock::kYes : cache::BreakLock::kNo;
  options.when_locked = arguments.no_wait ? cache::WhenLocked::kRefuse : cache::WhenLocked::kWait;
  options.num_workers = cache_workers(context);
  options.check_bytes = true;
  options.rejects_file = arguments.rejects_file;
  options.write_rejects = [&](const std::string& lines) {
    context.write_output(arguments.rejects_file, lines);
  };
  options.stop = context.stop_token();
  options.progress = context.options().quiet ? &no_progress() : &bar;
  options.say = [&context](const std::string& line) { context.say(line); };
  options.warn = [&context](const std::string& line) { context.warn(line); };
  context.when_stopped(
      "records that were whole are in the cache; run the same command again to go on");
  const Stopwatch watch;
  const cache::PrecomputeReport report =
      cache::precompute(context.settings(), system_io(), options);
  const double seconds = watch.seconds();
  context.report().update(cache::precompute_json(report, seconds));
  if (report.build.stopped) return ExitCode::kDone;
  context.print(fmt::format("{} = {} accepted + {} filtered + {} rejected",
                            counted(report.counts.rows, "row", "rows"),
                            grouped(report.counts.accepted), grouped(report.counts.filtered),
                            grouped(report.counts.rejected)));
  context.print("voices    " + report.voices);
  context.print(built_line(report.build, seconds));
  context.print("cache     " + report.place.folder);
  if (report.counts.rejected > 0) context.print("rejects   " + report.rejects_file);
  return ExitCode::kDone;
}

}  // namespace

void add_precompute_command(const Command& app, CommandContext& context) {
  const Command command =
      app.add_command("precompute", "Build or complete the cache of a data set");
  add_data_argument(command, context);
  add_cache_options(command, context);
  auto arguments = std::make_shared<PrecomputeArguments>();
  command.add_flag("--overwrite", arguments->overwrite,
                   "Rebuild a cache that was made with other settings");
  command.add_flag("--break-lock", arguments->break_lock,
                   "Take the lock of a builder on a host that is gone");
  command.add_flag("--no-wait", arguments->no_wait,
                   "End with exit 7 instead of waiting for another builder");
  command.add_option("--rejects", arguments->rejects_file,
                     "Where the list of rejected rows goes (rejects.jsonl in the cache)");
  add_index_options(command, context);
  context.on(command, [&context, arguments] { return run(context, *arguments); });
}

}  // namespace stoker::cli
