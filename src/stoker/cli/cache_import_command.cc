#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/maintain/import.h"
#include "stoker/cli/cache_options.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/errors.h"
#include "stoker/config/settings_text.h"

namespace stoker::cli {
namespace {

struct ImportArguments {
  std::string folder;
  std::vector<std::string> arrays;  // "f0=DIR"
  bool overwrite = false;
};

cache::ImportRequest request_of(const ImportArguments& arguments) {
  cache::ImportRequest request;
  request.folder = arguments.folder;
  for (const std::string& text : arguments.arrays) {
    const std::size_t at = text.find('=');
    if (at == 0 || at == std::string::npos) {
      Error error;
      error.code = &kUsage;
      error.promised = "--array NAME=FOLDER";
      error.found = text;
      raise(std::move(error));
    }
    request.arrays[text.substr(0, at)] = text.substr(at + 1);
  }
  return request;
}

void put_report(CommandContext& context, const cache::ImportPlan& plan,
                const cache::BuildReport& report) {
  Json& json = context.report();
  json["files"] = plan.num_files;
  json["imported"] = report.rows_built + report.rows_reused;
  json["built"] = report.rows_built;
  json["reused"] = report.rows_reused;
  json["rejected"] = report.num_rejected_rows;
  json["leftovers"] = plan.num_leftovers;
  json["other_files"] = plan.num_other;
  json["bytes"] = report.size_bytes;
  for (const auto& [kind, counts] : report.kinds)
    json["kinds"][kind] = {{"built", counts.built}, {"reused", counts.reused}};
  json["rejects"] = Json::array();
  for (const cache::BuildReject& reject : report.rejects)
    json["rejects"].push_back(error_line(reject.error));
}

ExitCode run(CommandContext& context, const ImportArguments& arguments) {
  const std::string path = context.settings().cache.dir;
  if (path.empty() || (arguments.folder.empty() && arguments.arrays.empty())) {
    Error error;
    error.code = &kUsage;
    error.promised = "a folder to import and --cache";
    error.found = path.empty() ? "no --cache" : "no folder";
    error.cure = "type stoker cache import FOLDER --cache NEW_FOLDER";
    raise(std::move(error));
  }
  const cache::ImportPlan plan = cache::plan_import(system_io(), request_of(arguments));
  make_folders(system_io(), path).take_or_raise();
  const File folder = open_file(system_io(), path, OpenFor::kFolder).take_or_raise();
  const cache::CacheLock lock =
      cache::CacheLock::take(folder, {.stop = context.stop_token()}).take_or_raise();
  cache::BuildTarget target = plan.target;
  if (Result<cache::Manifest> have = cache::load_manifest(folder); have) {
    if (arguments.folder.empty()) target.head = *have;  // arrays join whatever is there
    cache::PrecomputeOptions rules;
    rules.overwrite = arguments.overwrite ? cache::Overwrite::kYes : cache::Overwrite::kNo;
    rules.say = [&context](const std::string& line) { context.say(line); };
    cache::check_cache_settings(*have, target.head, {path, cache::LocationKind::kExplicit}, rules);
  }
  ProgressBar bar({.task = "import", .unit = "files"}, stderr_surface());
  cache::BuildOptions build;
  build.num_workers = cache_workers(context);
  build.check_bytes = true;
  build.stop = context.stop_token();
  build.progress = context.options().quiet ? &no_progress() : &bar;
  const cache::BuildReport report = cache::build_cache(folder, target, build);
  if (!arguments.folder.empty())
    publish_file(folder, "config.yaml", view_bytes(config::settings_yaml(plan.settings)))
        .take_or_raise();
  put_report(context, plan, report);
  for (const cache::BuildReject& reject : report.rejects) context.warn(error_line(reject.error));
  context.print(fmt::format(
      "{}: {} imported, {} rejected, {} ignored", counted(plan.num_files, "file", "files"),
      grouped(report.rows_built + report.rows_reused), grouped(report.num_rejected_rows),
      counted(plan.num_leftovers, "leftover", "leftovers")));
  context.print("cache     " + path);
  return report.rejects.empty() ? ExitCode::kDone : ExitCode::kCheckFailed;
}

}  // namespace

void add_cache_import_command(const Command& app, CommandContext& context) {
  const Command group = app.group("cache", "The cache: list, look at, explain, import, export, gc");
  const Command command = group.add_command(
      "import", "Read token and mel folders of myxtts, or named .npy arrays, into a cache");
  add_cache_options(command, context);
  auto arguments = std::make_shared<ImportArguments>();
  command.add_option("folder", arguments->folder,
                     "Folder with tokens_custom_*, mels_sr* or cached_features");
  command.add_option("--array", arguments->arrays,
                     "A further array: NAME=FOLDER of <id>.npy files (repeatable)");
  command.add_flag("--overwrite", arguments->overwrite,
                   "Replace a cache that was made with other settings");
  context.on(command, [&context, arguments] { return run(context, *arguments); });
}

}  // namespace stoker::cli
