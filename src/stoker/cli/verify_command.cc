#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>

#include "stoker/base/bytes.h"
#include "stoker/base/clock.h"
#include "stoker/base/errors.h"
#include "stoker/base/io/output_file.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/build/precompute.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/maintain/verify.h"
#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/settings_options.h"

namespace stoker::cli {
namespace {

constexpr std::size_t kMaxShownFaults = 20;
constexpr std::size_t kMaxShownUtterances = 10;

struct VerifyArguments {
  bool fix = false;
  bool sources = false;
  std::string list_file;
};

Json utterance_json(const cache::BadUtterance& each) {
  return {{"id", each.id}, {"state", each.state}, {"why", each.why}, {"kinds", each.kinds}};
}

// Where the whole list goes: the file asked for, or the cache's own when it is too long to print.
// Empty: nowhere. A folder that cannot be written is no fault of the cache.
std::string write_list(CommandContext& context, const cache::VerifyReport& report,
                       const std::string& asked, const std::string& cache) {
  const bool is_long = report.utterances.size() > kMaxShownUtterances;
  std::string own = fmt::format("{}/{}", cache, cache::kVerifyListName);
  if (asked.empty() && !is_long) {
    system_io().unlink_at(AT_FDCWD, own, false);  // of an earlier check
    return {};
  }
  std::string lines;
  for (const cache::BadUtterance& each : report.utterances)
    lines += utterance_json(each).dump() + "\n";
  if (!asked.empty()) {
    context.write_output(asked, lines);
    return asked;
  }
  const Result<void> written = publish_output(system_io(), own, view_bytes(lines));
  if (written) return own;
  context.warn(
      fmt::format("{}; --list FILE writes the list elsewhere", error_line(written.error())));
  return {};
}

void list_utterances(CommandContext& context, const cache::VerifyReport& report,
                     const std::string& list_file) {
  const std::size_t num_shown = std::min(report.utterances.size(), kMaxShownUtterances);
  Json& json = context.report();
  json["num_utterances"] = report.utterances.size();
  json["utterances"] = Json::array();
  for (std::size_t i = 0; i < num_shown; ++i) {
    const cache::BadUtterance& each = report.utterances[i];
    json["utterances"].push_back(utterance_json(each));
    context.print(fmt::format("{:<8} {} ({}): {}", each.state, escape_control(each.id),
                              fmt::join(each.kinds, ", "), each.why));
  }
  if (report.utterances.size() > num_shown)
    context.print(fmt::format("and {} more", grouped(report.utterances.size() - num_shown)));
  if (list_file.empty()) return;
  json["list"] = list_file;
  context.print("all of them: " + list_file);
}

void put_report(CommandContext& context, const cache::VerifyReport& report) {
  Json& json = context.report();
  json["checked"] = report.checked;
  json["ok_entries"] = report.ok_entries;
  json["stale"] = report.stale;
  json["corrupt"] = report.corrupt;
  json["missing"] = report.missing;
  json["unread"] = report.unread;
  json["fixed"] = report.fixed;
  json["failed"] = report.failed;
  json["left_out"] = report.left_out;
  json["bytes"] = report.size_bytes;
  json["faults"] = Json::array();
  for (const Error& fault : report.faults) json["faults"].push_back(error_line(fault));
}

// Records, and the utterances that they belong to where the data set is known.
std::string checked_text(const cache::VerifyReport& report,
                         const std::optional<std::uint64_t>& num_utterances) {
  const std::string records = counted(report.checked, "record", "records");
  return num_utterances
             ? fmt::format("{} of {}", records, counted(*num_utterances, "utterance", "utterances"))
             : records;
}

void print_report(CommandContext& context, const cache::VerifyReport& report,
                  const std::optional<std::uint64_t>& num_utterances, double seconds) {
  for (std::size_t i = 0; i < std::min(report.faults.size(), kMaxShownFaults); ++i)
    context.say(error_line(report.faults[i]));
  if (report.faults.size() > kMaxShownFaults)
    context.say(fmt::format("and {} more faults", grouped(report.faults.size() - kMaxShownFaults)));
  context.print(fmt::format("{} checked: {} ok, {} stale, {} corrupt, {} missing; {} in {}",
                            checked_text(report, num_utterances), grouped(report.ok_entries),
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
void put_rows(CommandContext& context, const data::Index& index) {
  const data::IndexCounts& counts = index.counts();
  Json& json = context.report();
  json["rows"] = counts.rows;
  json["accepted"] = counts.accepted;
  json["filtered"] = counts.filtered;
  json["rejected"] = counts.rejected;
  context.print(fmt::format("{} = {} accepted + {} filtered + {} rejected",
                            counted(counts.rows, "row", "rows"), grouped(counts.accepted),
                            grouped(counts.filtered), grouped(counts.rejected)));
  const std::size_t num_shown = std::min(index.rejects().size(), kMaxShownFaults);
  for (const data::Reject& reject : index.rejects().first(num_shown))
    context.say(error_line(reject.error));
}

// As precompute does it: with the data set's bound for bad rows, and each row left out named.
std::uint64_t rebuild(CommandContext& context, cache::WantedData& data,
                      const cache::VerifyOptions& options, const cache::VerifyReport& report) {
  cache::PrecomputeOptions build;
  build.num_workers = options.num_workers;
  build.rebuild = report.bad_shards;
  build.stop = options.stop;
  build.progress = options.progress;
  build.say = [&context](const std::string& line) { context.say(line); };
  build.warn = [&context](const std::string& line) { context.warn(line); };
  const cache::PrecomputeReport done =
      cache::precompute(context.settings(), data, system_io(), build);
  std::uint64_t num_left_out = 0;
  for (const cache::BuildReject& reject : done.build.rejects) {
    if (reject.error.code == &cache::kRowLeftOut) continue;
    context.warn(error_line(reject.error));
    ++num_left_out;
  }
  return num_left_out;
}

cache::VerifyReport verify_with_data(CommandContext& context, const cache::VerifyOptions& options,
                                     const VerifyArguments& arguments,
                                     std::optional<std::uint64_t>& num_utterances) {
  cache::WantedData data(context.settings(), system_io(), context.stop_token());
  if (arguments.fix) make_folders(system_io(), data.place.folder).take_or_raise();
  Result<File> folder = open_file(system_io(), data.place.folder, OpenFor::kFolder);
  if (!folder) {
    Error error = std::move(folder).error();
    if (error.code == &kIoMissing) error.code = &cache::kNoCache;
    raise(std::move(error));
  }
  context.report()["cache"] = data.place.folder;
  put_rows(context, data.index);
  num_utterances = data.index.counts().accepted;
  cache::VerifyReport report = cache::verify_cache(*folder, data.target(), options);
  if (!arguments.fix || report.is_good()) return report;
  const std::uint64_t num_left_out = rebuild(context, data, options, report);
  cache::compare_after_fix(cache::verify_cache(*folder, data.target(), options), num_left_out,
                           report);
  return report;
}

ExitCode run(CommandContext& context, const VerifyArguments& arguments) {
  ProgressBar bar({.task = "verify", .unit = "records"}, stderr_surface());
  cache::VerifyOptions options;
  options.num_workers = cache_workers(context);
  options.stop = context.stop_token();
  options.progress = context.options().quiet ? &no_progress() : &bar;
  options.sources = arguments.sources ? cache::SourceCheck::kContent : cache::SourceCheck::kStamps;
  context.reserve_output(arguments.list_file);
  const Stopwatch watch;
  const config::DataSettings& data = context.settings().data;
  const bool has_data = !data.path.empty() || !data.sources.empty();
  if (!has_data && (arguments.fix || arguments.sources))
    require_data(context, "to rebuild records or to read sources");
  cache::VerifyReport report;
  std::optional<std::uint64_t> num_utterances;
  if (has_data) {
    report = verify_with_data(context, options, arguments, num_utterances);
  } else {
    const std::string path = cache_folder(context);
    const File folder = open_file(system_io(), path, OpenFor::kFolder).take_or_raise();
    context.report()["cache"] = path;
    report = cache::verify_bytes(folder, options);
  }
  put_report(context, report);
  const std::string list_file =
      write_list(context, report, arguments.list_file, context.report()["cache"].text());
  list_utterances(context, report, list_file);
  print_report(context, report, num_utterances, watch.seconds());
  if (!arguments.fix && report.stale + report.corrupt + report.missing > 0)
    context.say("help: stoker verify --fix --data FOLDER rebuilds what is bad");
  const bool good = report.is_good() || (arguments.fix && report.failed == 0 && report.unread == 0);
  return good ? ExitCode::kDone : ExitCode::kCheckFailed;
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
