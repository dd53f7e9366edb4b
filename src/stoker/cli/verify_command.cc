#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/maintain/cache_check.h"
#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/settings_options.h"

namespace stoker::cli {
namespace {

constexpr std::size_t kMaxShownFaults = 20;

struct VerifyArguments {
  bool fix = false;
  bool sources = false;
  std::string list_file;
};

// Where the whole list goes: the file asked for, or the cache's own when it is too long to print.
// Empty: nowhere. A folder that cannot be written is no fault of the cache.
std::string write_list(CommandContext& context, const cache::CheckedCache& checked,
                       const std::string& asked) {
  if (!asked.empty()) {
    context.write_output(asked, cache::utterance_lines(checked.report));
    return asked;
  }
  Result<std::string> kept = cache::keep_utterance_lines(system_io(), checked);
  if (kept) return std::move(kept).value();
  context.warn(fmt::format("{}; --list FILE writes the list elsewhere", error_line(kept.error())));
  return {};
}

void print_utterances(CommandContext& context, const cache::VerifyReport& report,
                      const std::string& list_file) {
  const std::size_t num_shown = std::min(report.utterances.size(), cache::kMostShownUtterances);
  for (std::size_t i = 0; i < num_shown; ++i) {
    const cache::BadUtterance& each = report.utterances[i];
    context.print(fmt::format("{:<8} {} ({}): {}", each.state, escape_control(each.id),
                              fmt::join(each.kinds, ", "), each.why));
  }
  if (report.utterances.size() > num_shown)
    context.print(fmt::format("and {} more", grouped(report.utterances.size() - num_shown)));
  if (!list_file.empty()) context.print("all of them: " + list_file);
}

// Records, and the utterances that they belong to where the data set is known.
std::string checked_text(const cache::VerifyReport& report,
                         const std::optional<data::IndexCounts>& rows) {
  const std::string records = counted(report.checked, "record", "records");
  return rows ? fmt::format("{} of {}", records, counted(rows->accepted, "utterance", "utterances"))
              : records;
}

void print_report(CommandContext& context, const cache::CheckedCache& checked, double seconds) {
  const cache::VerifyReport& report = checked.report;
  for (std::size_t i = 0; i < std::min(report.faults.size(), kMaxShownFaults); ++i)
    context.say(error_line(report.faults[i]));
  if (report.faults.size() > kMaxShownFaults)
    context.say(fmt::format("and {} more faults", grouped(report.faults.size() - kMaxShownFaults)));
  context.print(fmt::format("{} checked: {} ok, {} stale, {} corrupt, {} missing; {} in {}",
                            checked_text(report, checked.rows), grouped(report.ok_entries),
                            grouped(report.stale), grouped(report.corrupt), grouped(report.missing),
                            bytes_text(report.size_bytes), seconds_text(seconds)));
  if (report.unread > 0)
    context.print(fmt::format("{} could not be read now; whether they are good is not known",
                              grouped(report.unread)));
  if (report.fixed + report.failed > 0)
    context.print(
        fmt::format("{} fixed, {} failed", grouped(report.fixed), grouped(report.failed)));
}

// Rows that have no records because the data set itself has no use for them.
void print_rows(CommandContext& context, const cache::CheckedCache& checked) {
  if (!checked.rows) return;
  context.print(fmt::format("{} = {} accepted + {} filtered + {} rejected",
                            counted(checked.rows->rows, "row", "rows"),
                            grouped(checked.rows->accepted), grouped(checked.rows->filtered),
                            grouped(checked.rows->rejected)));
  for (std::size_t i = 0; i < std::min(checked.rejects.size(), kMaxShownFaults); ++i)
    context.say(error_line(checked.rejects[i]));
}

ExitCode run(CommandContext& context, const VerifyArguments& arguments) {
  ProgressBar bar({.task = "verify", .unit = "records"}, stderr_surface());
  cache::CheckRequest request{.fix = arguments.fix};
  request.verify.num_workers = cache_workers(context);
  request.verify.stop = context.stop_token();
  request.verify.progress = context.options().quiet ? &no_progress() : &bar;
  request.verify.sources =
      arguments.sources ? cache::SourceCheck::kContent : cache::SourceCheck::kStamps;
  request.say = [&context](const std::string& line) { context.say(line); };
  request.warn = [&context](const std::string& line) { context.warn(line); };
  context.reserve_output(arguments.list_file);
  if (arguments.fix || arguments.sources)
    require_data(context, "to rebuild records or to read sources");
  else if (context.settings().cache.dir.empty())
    require_data(context, "to find its cache");
  const Stopwatch watch;
  const cache::CheckedCache checked = cache::check_cache(context.settings(), system_io(), request);
  const std::string list_file = write_list(context, checked, arguments.list_file);
  context.report().update(cache::check_json(checked, list_file));
  print_rows(context, checked);
  print_utterances(context, checked.report, list_file);
  print_report(context, checked, watch.seconds());
  if (!arguments.fix && checked.report.num_bad() > 0)
    context.say("help: stoker verify --fix --data FOLDER rebuilds what is bad");
  return checked.is_good ? ExitCode::kDone : ExitCode::kCheckFailed;
}

}  // namespace

void add_verify_command(const Command& app, CommandContext& context) {
  const Command command =
      app.add_command("verify", "Check every byte of a cache, and whether it is up to date");
  add_data_argument(command, context);
  add_cache_options(command, context);
  auto arguments = std::make_shared<VerifyArguments>();
  command.add_flag("--fix", arguments->fix, "Rebuild what is bad, with the bytes of a fresh build");
  command.add_flag("--sources", arguments->sources,
                   "Read every source again, whatever its file times say");
  command.add_option("--list", arguments->list_file,
                     "Write every utterance that is stale, missing, corrupt or unread to this "
                     "file, one JSON object a line");
  add_index_options(command, context);
  context.on(command, [&context, arguments] { return run(context, *arguments); });
}

}  // namespace stoker::cli
