#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/reference_pages.h"
#include "stoker/cli/settings_options.h"
#include "stoker/cli/terminal.h"
#include "stoker/config/check_settings.h"
#include "stoker/config/field_table.h"
#include "stoker/config/load.h"
#include "stoker/config/settings_text.h"
#include "stoker/config/value_text.h"

namespace stoker::cli {
namespace {

Json& slot_of(Json& settings, const config::FieldInfo& field) {
  return field.section.empty() ? settings[field.name] : settings[field.section][field.name];
}

std::string shown_value(const config::FieldInfo& field, const config::Settings& settings) {
  const std::string value = config::plain_text(field.json(settings));
  return value == "null" ? "none" : value;
}

ExitCode show(CommandContext& context) {
  const config::LoadedSettings& loaded = context.loaded();
  Json settings;
  std::string section;
  for (const config::FieldInfo& field : config::all_fields()) {
    const std::string source = config::source_text(loaded.sources[config::index_of(field)]);
    slot_of(settings, field) = {{"value", Json::parse(field.json(loaded.settings)).value()},
                                {"source", source}};
    if (field.section != section) {
      section = field.section;
      context.print(coloured(section + ":", Colour::kBold, Stream::kOut));
    }
    const std::string left = fmt::format("{}{}: {}", section.empty() ? "" : "  ", field.name,
                                         shown_value(field, loaded.settings));
    context.print(
        fmt::format("{:<44} {}", left, coloured("# " + source, Colour::kDim, Stream::kOut)));
  }
  context.report()["settings"] = std::move(settings);
  return ExitCode::kDone;
}

Json check_file(CommandContext& context, const std::string& file) {
  const config::LoadedSettings loaded = config::load_settings({.file = file});
  config::check_cache_folder(loaded.settings.cache.dir, loaded.settings.data.path);
  std::vector<std::string> notices = loaded.notices;
  const std::string no_effect = config::no_effect_line(loaded, config::CommandKind::kShow);
  if (!no_effect.empty()) notices.push_back(no_effect);
  for (const std::string& notice : notices) context.say("notice: " + notice);
  std::size_t num_given = 0;
  for (const config::ValueSource& source : loaded.sources)
    num_given += source.kind == config::SourceKind::kFile ? 1 : 0;
  context.print(
      fmt::format("{}: good, {} settings given, {} notices", file, num_given, notices.size()));
  return {{"file", file},
          {"from_original", loaded.from_myxtts},
          {"settings_given", num_given},
          {"notices", notices}};
}

ExitCode check(CommandContext& context, const std::vector<std::string>& files) {
  for (const std::string& file : files)
    context.report()["files"].push_back(check_file(context, file));
  return ExitCode::kDone;
}

ExitCode migrate(CommandContext& context, const std::string& file, const std::string& out) {
  const config::LoadedSettings loaded = config::load_settings({.file = file});
  for (const std::string& notice : loaded.notices) context.say("notice: " + notice);
  const std::string yaml = fmt::format("# Written by `stoker config migrate` from {}.\n{}", file,
                                       config::given_yaml(loaded));
  context.write_result(yaml, out);
  context.report().update({{"file", file}, {"yaml", yaml}, {"notices", loaded.notices}});
  return ExitCode::kDone;
}

ExitCode reference(CommandContext& context, const Command& app, const std::string& page,
                   const std::string& out) {
  const std::string text = page == "errors"     ? errors_page()
                           : page == "commands" ? commands_page(app)
                                                : config::settings_page();
  context.write_result(text, out);
  context.report().update({{"page", page}, {"text", text}});
  return ExitCode::kDone;
}

void add_show(const Command& config, CommandContext& context) {
  const Command command = config.add_command("show", "Effective settings and where each came from");
  add_train_options(command, context);
  add_old_flags(command, context, kOldPrograms);
  context.on(command, [&context] { return show(context); });
}

void add_check(const Command& config, CommandContext& context) {
  const auto files = std::make_shared<std::vector<std::string>>();
  const Command command = config.add_command("check", "Load settings files and say what is wrong");
  command.add_option("files", *files, "The files").required();
  context.on(command, [&context, files] { return check(context, *files); });
}

void add_reference(const Command& config, CommandContext& context, const Command& app) {
  const auto page = std::make_shared<std::string>("settings");
  const auto out = std::make_shared<std::string>();
  const Command command =
      config.add_command("reference", "Print a page of the reference (Markdown)");
  command.add_option("page", *page, "settings, errors or commands (settings)")
      .one_of({"settings", "errors", "commands"});
  command.add_option("--out", *out, "File to write instead of stdout");
  context.on(command, [app, &context, page, out] { return reference(context, app, *page, *out); });
}

void add_migrate(const Command& config, CommandContext& context) {
  const auto file = std::make_shared<std::string>();
  const auto out = std::make_shared<std::string>();
  const Command command = config.add_command("migrate", "Write an old file in the native form");
  command.add_option("file", *file, "The old file").required();
  command.add_option("--out", *out, "File to write instead of stdout");
  context.on(command, [&context, file, out] { return migrate(context, *file, *out); });
}

}  // namespace

void add_config_commands(const Command& app, CommandContext& context) {
  const Command config =
      app.group("config", "Settings: show, check, recommend, migrate, reference pages");
  add_show(config, context);
  add_check(config, context);
  add_reference(config, context, app);
  add_migrate(config, context);
}

}  // namespace stoker::cli
