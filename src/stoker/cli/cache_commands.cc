#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/maintain/cache_gc.h"
#include "stoker/cache/maintain/cache_list.h"
#include "stoker/cache/maintain/cache_reports.h"
#include "stoker/cache/maintain/export.h"
#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/errors.h"
#include "stoker/cli/settings_options.h"
#include "stoker/cli/terminal.h"

namespace stoker::cli {
namespace {

constexpr std::size_t kMaxShownDifferences = 4;

ExitCode info(CommandContext& context) {
  const std::string path = cache_folder(context);
  const cache::Reader reader = cache::Reader::open(system_io(), path).take_or_raise();
  const cache::Manifest& manifest = reader.manifest();
  context.report().update(cache::info_json(manifest, path));
  context.print("cache       " + path);
  context.print(fmt::format("generation  {}, numeric path {}",
                            counted(manifest.generation(), "shard", "shards"), manifest.path));
  for (const auto& [kind, size] : cache::kind_sizes(manifest))
    context.print(
        fmt::format("{:<11} {} in {}, {}", kind, counted(size.records, "record", "records"),
                    counted(size.shards, "shard", "shards"), bytes_text(size.size_bytes)));
  for (const cache::Setting& setting : manifest.settings)
    context.print(fmt::format("{:<11} {} = {}", setting.group, setting.name, setting.value));
  return ExitCode::kDone;
}

ExitCode explain(CommandContext& context, const std::string& id) {
  require_data(context, "to compare the cache with it");
  const cache::ExplainedEntries explained =
      cache::explain_utterance(context.settings(), system_io(), id, context.stop_token());
  context.report().update(cache::explain_json(explained, id));
  for (const cache::EntryReason& entry : explained.entries) {
    context.print(fmt::format("{:<8} {:<8} {}{}", entry.kind, entry.state, entry.shard,
                              entry.reason.empty() ? "" : ": " + entry.reason));
    if (!entry.settings.empty())
      for (const std::string& line : cache::difference_table(entry.settings))
        context.print("    " + line);
  }
  return ExitCode::kDone;
}

struct ExportArguments {
  std::string out;
  std::vector<std::string> ids;
};

ExitCode export_records(CommandContext& context, const ExportArguments& arguments) {
  const std::string path = cache_folder(context);
  const cache::Reader reader = cache::Reader::open(system_io(), path).take_or_raise();
  ProgressBar bar({.task = "export", .unit = "records"}, stderr_surface());
  cache::ExportOptions options;
  options.ids = arguments.ids;
  options.num_workers = cache_workers(context);
  options.stop = context.stop_token();
  options.progress = context.options().quiet ? &no_progress() : &bar;
  const cache::ExportReport report =
      cache::export_cache(reader, system_io(), arguments.out, options);
  context.report()["cache"] = path;
  context.report()["out"] = arguments.out;
  context.report()["files"] = report.num_files;
  context.report()["bytes"] = report.size_bytes;
  context.print(fmt::format("{}, {} in {}", counted(report.num_files, "file", "files"),
                            bytes_text(report.size_bytes), arguments.out));
  return ExitCode::kDone;
}

// As the settings pages write a value; text without its quotation marks.
std::string value_text(const std::string& json) {
  if (json == "null") return "none";
  const bool is_text = json.size() > 2 && json.front() == '"' && json.back() == '"';
  return is_text ? json.substr(1, json.size() - 2) : json;
}

// "features.preset xtts (here hifigan)", several of them with commas; at most a line's worth.
std::string differences_text(const std::vector<cache::SettingDifference>& differences) {
  std::string text;
  for (std::size_t i = 0; i < std::min(differences.size(), kMaxShownDifferences); ++i) {
    const cache::SettingDifference& each = differences[i];
    text += fmt::format("{}{} {} (here {})", i == 0 ? "" : ", ", each.name, value_text(each.have),
                        value_text(each.want));
  }
  if (differences.size() > kMaxShownDifferences)
    text += fmt::format(", and {} more", differences.size() - kMaxShownDifferences);
  return text;
}

std::string age_text(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 60 * kMinute;
  constexpr double kDay = 24 * kHour;
  if (seconds < kMinute) return "just now";
  if (seconds < kHour) return fmt::format("{:.0f} min ago", std::floor(seconds / kMinute));
  if (seconds < kDay) return fmt::format("{:.0f} h ago", std::floor(seconds / kHour));
  const double days = std::floor(seconds / kDay);
  return days == 1 ? "1 day ago" : fmt::format("{:.0f} days ago", days);
}

Json listed_json(const cache::ListedCache& each, double age_s) {
  Json json{{"path", each.folder},
            {"use", cache::use_name(each.use)},
            {"used", each.use == cache::CacheUse::kUsed},
            {"list", each.list},
            {"bytes", each.size_bytes},
            {"records", each.num_records},
            {"age_s", age_s}};
  json["settings"] = Json::array();
  for (const cache::SettingDifference& row : each.differences)
    json["settings"].push_back(
        {{"group", row.group}, {"name", row.name}, {"have", row.have}, {"want", row.want}});
  return json;
}

ExitCode list_all(CommandContext& context) {
  require_data(context, "to look at its caches");
  const std::vector<cache::ListedCache> caches =
      cache::list_caches(system_io(), context.settings());
  Json& json = context.report();
  json["caches"] = Json::array();
  std::uint64_t total_bytes = 0;
  for (const cache::ListedCache& each : caches) {
    constexpr double kNsPerSecond = 1e9;
    const std::int64_t age_ns = system_clock().unix_time_ns() - each.changed_unix_ns;
    const double age_s = std::max(0.0, static_cast<double>(age_ns) / kNsPerSecond);
    json["caches"].push_back(listed_json(each, age_s));
    context.print(fmt::format("{:<14}  {:>10}  {:>11}  {}", cache::use_name(each.use),
                              bytes_text(each.size_bytes), age_text(age_s), each.folder));
    if (!each.list.empty()) context.print("    utterances of " + each.list);
    if (!each.differences.empty()) context.print("    " + differences_text(each.differences));
    total_bytes += each.size_bytes;
  }
  json["bytes"] = total_bytes;
  if (caches.empty())
    context.print("no cache of " + context.settings().data.path + "; stoker precompute builds one");
  return ExitCode::kDone;
}

// Throws E-USAGE where nobody can be asked.
bool is_confirmed(CommandContext& context, bool yes) {
  if (yes) return true;
  if (context.options().json || isatty(STDIN_FILENO) == 0) {
    raise({.code = &kUsage,
           .promised = "--yes, or a terminal where the question can be answered",
           .found = "neither; nothing was removed",
           .cure = "the same command with --yes removes what is listed; settings in use that are "
                   "not the present ones are named by --config FILE or --set"});
  }
  context.say("remove all of these? [y/N]");
  std::string answer;
  std::getline(std::cin, answer);
  const bool is_yes = answer == "y" || answer == "Y" || answer == "yes";
  if (!is_yes) context.say("nothing was removed");
  return is_yes;
}

// "made with other settings", with their names.
std::string reason_text(const cache::UnusedItem& item,
                        const std::vector<cache::ListedCache>& caches) {
  const auto at = std::find_if(caches.begin(), caches.end(), [&](const cache::ListedCache& each) {
    return each.folder == item.path;
  });
  if (at == caches.end() || at->differences.empty()) return item.why;
  return fmt::format("{}: {}", item.why, differences_text(at->differences));
}

ExitCode collect(CommandContext& context, bool yes) {
  require_data(context, "to look at its caches");
  const std::string caches = cache::caches_of_data(context.settings(), system_io());
  const std::vector<cache::UnusedItem> items =
      cache::find_unused(system_io(), caches, cache::used_folders(system_io(), context.settings()));
  const std::vector<cache::ListedCache> listed =
      cache::list_caches(system_io(), context.settings());
  Json& json = context.report();
  json["caches"] = caches;
  json["unused"] = Json::array();
  std::uint64_t total_bytes = 0;
  if (!items.empty()) context.print("these settings do not use:");
  for (const cache::UnusedItem& item : items) {
    const std::string why = reason_text(item, listed);
    json["unused"].push_back({{"path", item.path}, {"why", why}, {"bytes", item.size_bytes}});
    context.print(fmt::format("{:>10}  {}: {}", bytes_text(item.size_bytes), item.path, why));
    total_bytes += item.size_bytes;
  }
  json["bytes"] = total_bytes;
  json["removed"] = 0;
  if (items.empty()) {
    context.print("nothing unused under " + caches);
    return ExitCode::kDone;
  }
  if (!is_confirmed(context, yes)) return ExitCode::kDone;
  for (const cache::UnusedItem& item : items) cache::remove_unused(system_io(), item);
  json["removed"] = items.size();
  context.print(fmt::format("removed {} ({})", items.size(), bytes_text(total_bytes)));
  return ExitCode::kDone;
}

}  // namespace

void add_cache_commands(const Command& app, CommandContext& context) {
  const Command group = app.group("cache", "The cache: list, look at, explain, import, export, gc");
  const Command list_command = group.add_command(
      "list", "All caches of a data set: settings that differ, size, age, whether they are used");
  add_data_argument(list_command, context);
  add_cache_options(list_command, context);
  context.on(list_command, [&context] { return list_all(context); });

  const Command info_command = group.add_command("info", "Sizes and settings of a cache");
  add_data_argument(info_command, context);
  add_cache_options(info_command, context);
  context.on(info_command, [&context] { return info(context); });

  const Command explain_command =
      group.add_command("explain", "Why an entry would be rebuilt: which setting, old and new");
  add_cache_options(explain_command, context);
  auto id = std::make_shared<std::string>();
  explain_command.add_option("id", *id, "Id of the utterance").required();
  add_data_argument(explain_command, context);
  context.on(explain_command, [&context, id] { return explain(context, *id); });

  const Command export_command = group.add_command("export", "Write records as plain .npy files");
  add_data_argument(export_command, context);
  add_cache_options(export_command, context);
  auto exported = std::make_shared<ExportArguments>();
  export_command.add_option("--out", exported->out, "Folder for the files").required();
  export_command.add_option("--id", exported->ids, "Only these ids");
  context.on(export_command, [&context, exported] { return export_records(context, *exported); });

  const Command gc_command =
      group.add_command("gc", "List what these settings do not use, and remove it after asking");
  add_data_argument(gc_command, context);
  add_cache_options(gc_command, context);
  auto yes = std::make_shared<bool>(false);
  gc_command.add_flag("--yes", *yes, "Remove without asking");
  context.on(gc_command, [&context, yes] { return collect(context, *yes); });
}

}  // namespace stoker::cli
