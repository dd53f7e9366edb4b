#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "stoker/base/errors.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/maintain/cache_gc.h"
#include "stoker/cache/maintain/explain.h"
#include "stoker/cache/maintain/export.h"
#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/terminal.h"

namespace stoker::cli {
namespace {

struct KindSize {
  std::uint64_t records = 0;
  std::uint64_t shards = 0;
  std::uint64_t size_bytes = 0;
};

ExitCode info(CommandContext& context) {
  const std::string path = cache_folder(context);
  const cache::Reader reader = cache::Reader::open(system_io(), path).take_or_raise();
  const cache::Manifest& manifest = reader.manifest();
  std::map<std::string, KindSize> kinds;
  for (const cache::ShardLine& line : manifest.shards) {
    const std::string kind(cache::kind_name(line.kind));
    KindSize& size = kinds[line.array.empty() ? kind : kind + " " + line.array];
    size.records += line.num_records;
    size.size_bytes += line.size_bytes;
    ++size.shards;
  }
  Json& json = context.report();
  json["cache"] = path;
  json["generation"] = manifest.generation();
  json["path"] = manifest.path;
  json["features"] = manifest.features.hex();
  json["text"] = manifest.text.hex();
  json["left_out"] = manifest.left_out.size();
  context.print("cache       " + path);
  context.print(
      fmt::format("generation  {} shards, numeric path {}", manifest.generation(), manifest.path));
  for (const auto& [kind, size] : kinds) {
    json["kinds"][kind] = {
        {"records", size.records}, {"shards", size.shards}, {"bytes", size.size_bytes}};
    context.print(fmt::format("{:<11} {} records in {} shards, {}", kind, grouped(size.records),
                              size.shards, bytes_text(size.size_bytes)));
  }
  for (const cache::Setting& setting : manifest.settings) {
    json["settings"][setting.group][setting.name] = setting.value;
    context.print(fmt::format("{:<11} {} = {}", setting.group, setting.name, setting.value));
  }
  return ExitCode::kDone;
}

Json entry_json(const cache::EntryReason& entry) {
  Json json{{"kind", entry.kind},   {"state", entry.state}, {"reason", entry.reason},
            {"shard", entry.shard}, {"have", entry.have},   {"want", entry.want}};
  json["settings"] = Json::array();
  for (const cache::SettingDifference& row : entry.settings)
    json["settings"].push_back(
        {{"group", row.group}, {"name", row.name}, {"have", row.have}, {"want", row.want}});
  return json;
}

// A cache that is not there holds nothing; looking does not make it.
cache::Inspection look_at(const std::string& path, const cache::BuildTarget& target) {
  Result<File> folder = open_file(system_io(), path, OpenFor::kFolder);
  if (!folder && folder.error().code == &kIoMissing) return cache::inspect_nothing(target.makers);
  return cache::inspect_cache(std::move(folder).take_or_raise(), target.makers);
}

ExitCode explain(CommandContext& context, const std::string& id) {
  require_data(context, "to compare the cache with it");
  const cache::WantedData data(context.settings(), system_io(), context.stop_token());
  const cache::BuildTarget& target = data.target();
  const cache::Inspection found = look_at(data.place.folder, target);
  Json& json = context.report();
  json["id"] = id;
  json["cache"] = data.place.folder;
  json["entries"] = Json::array();
  for (const cache::EntryReason& entry :
       cache::explain_entry(found, data.place.folder, target, id)) {
    json["entries"].push_back(entry_json(entry));
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
  context.print(fmt::format("{} files, {} in {}", grouped(report.num_files),
                            bytes_text(report.size_bytes), arguments.out));
  return ExitCode::kDone;
}

bool is_confirmed(CommandContext& context, bool yes) {
  if (yes) return true;
  if (context.options().json || isatty(STDIN_FILENO) == 0) {
    context.say("nothing was removed; --yes removes what is listed");
    return false;
  }
  context.say("remove all of these? [y/N]");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// Where the cache would be without --cache.
std::string default_folder(CommandContext& context) {
  config::Settings settings = context.settings();
  settings.cache.dir.clear();
  const cache::Manifest head = cache::wanted_head(settings, SimdLevel::kScalar);
  return cache::find_cache_location(settings, head.features, system_io()).folder;
}

ExitCode collect(CommandContext& context, bool yes) {
  require_data(context, "to look at its caches");
  const std::string caches = cache::caches_of_data(context.settings());
  const std::vector<cache::UnusedItem> items =
      cache::find_unused(system_io(), caches, {cache_folder(context), default_folder(context)});
  Json& json = context.report();
  json["caches"] = caches;
  json["unused"] = Json::array();
  std::uint64_t total_bytes = 0;
  for (const cache::UnusedItem& item : items) {
    json["unused"].push_back({{"path", item.path}, {"why", item.why}, {"bytes", item.size_bytes}});
    context.print(fmt::format("{:>10}  {}: {}", bytes_text(item.size_bytes), item.path, item.why));
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
  const Command group = app.group("cache", "The cache: look at, explain, import, export, gc");
  const Command info_command = group.add_command("info", "Sizes and settings of a cache");
  add_cache_options(info_command, context);
  context.on(info_command, [&context] { return info(context); });

  const Command explain_command =
      group.add_command("explain", "Why an entry would be rebuilt: which setting, old and new");
  add_cache_options(explain_command, context);
  auto id = std::make_shared<std::string>();
  explain_command.add_option("id", *id, "Id of the utterance").required();
  context.on(explain_command, [&context, id] { return explain(context, *id); });

  const Command export_command = group.add_command("export", "Write records as plain .npy files");
  add_cache_options(export_command, context);
  auto exported = std::make_shared<ExportArguments>();
  export_command.add_option("--out", exported->out, "Folder for the files").required();
  export_command.add_option("--id", exported->ids, "Only these ids");
  context.on(export_command, [&context, exported] { return export_records(context, *exported); });

  const Command gc_command =
      group.add_command("gc", "List what no settings use, and remove it after asking");
  add_cache_options(gc_command, context);
  auto yes = std::make_shared<bool>(false);
  gc_command.add_flag("--yes", *yes, "Remove without asking");
  context.on(gc_command, [&context, yes] { return collect(context, *yes); });
}

}  // namespace stoker::cli
