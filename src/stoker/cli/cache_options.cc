#include "stoker/cli/cache_options.h"

#include <array>
#include <string_view>

#include "stoker/cache/maintain/cache_check.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/errors.h"
#include "stoker/cli/settings_options.h"

namespace stoker::cli {
namespace {

constexpr std::array<std::string_view, 15> kPaths{
    "data.path",       "data.columns", "data.audio_root", "data.split",       "cache.dir",
    "features.preset", "cache.dtype",  "cache.content",   "cache.arrays",     "text.language",
    "text.vocabulary", "text.cleaner", "text.add_blank",  "data.num_workers", "device"};

}  // namespace

void add_cache_options(const Command& command, CommandContext& context) {
  add_setting_options(command, context, kPaths, "Settings");
}

unsigned cache_workers(CommandContext& context) { return cache::build_workers(context.settings()); }

void require_data(CommandContext& context, const char* why) {
  const config::DataSettings& data = context.settings().data;
  if (!data.path.empty() || !data.sources.empty()) return;
  Error error;
  error.code = &kUsage;
  error.promised = std::string("a data set, which is needed ") + why;
  error.found = "none";
  error.cure =
      "add the folder or metadata file of the data set, or --data FOLDER; `stoker data make --out "
      "voice --clips 24` makes one to try";
  raise(std::move(error));
}

std::string cache_folder(CommandContext& context) {
  const config::Settings& settings = context.settings();
  if (settings.cache.dir.empty()) require_data(context, "to find its cache");
  return cache::cache_folder_of(settings, system_io());
}

}  // namespace stoker::cli
