#include "stoker/cli/settings_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "stoker/base/invariant.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/config/value_text.h"

namespace stoker::cli {
namespace {

constexpr std::array<std::string_view, 37> kFeedSettings{"data.path",
                                                         "data.columns",
                                                         "data.audio_root",
                                                         "cache.dir",
                                                         "data.batch_size",
                                                         "data.batch_frames",
                                                         "data.max_shapes",
                                                         "data.batch_layout",
                                                         "data.batch_multiple",
                                                         "data.num_workers",
                                                         "data.prefetch_buffer_size",
                                                         "gpu.buffer_size",
                                                         "data.buffer_memory",
                                                         "data.preprocessing_mode",
                                                         "cache.tier",
                                                         "features.preset",
                                                         "device",
                                                         "data.use_native_loading",
                                                         "gpu.enhanced_gpu_prefetch",
                                                         "data.optimize_cpu_gpu_overlap",
                                                         "gpu.prefetch_to_gpu",
                                                         "gpu.data_gpu",
                                                         "gpu.model_gpu",
                                                         "gpu.data_gpu_memory",
                                                         "gpu.mel_place",
                                                         "data.auto_tune_performance",
                                                         "data.static_shapes",
                                                         "data.shuffle",
                                                         "data.drop_last",
                                                         "data.max_mel_frames",
                                                         "data.max_text_length",
                                                         "data.split",
                                                         "text.language",
                                                         "text.vocabulary",
                                                         "data.rank",
                                                         "data.world_size",
                                                         "strict"};

std::string value_name(const config::FieldInfo& field) {
  const std::string prefix = field.kind.starts_with("auto or ")   ? "auto|"
                             : field.kind.starts_with("none or ") ? "none|"
                                                                  : "";
  if (!field.choices.empty()) return prefix + fmt::format("{}", fmt::join(field.choices, "|"));
  if (field.kind.ends_with("whole number")) return prefix + "N";
  if (field.kind.ends_with("number")) return prefix + "X";
  return field.kind.ends_with("size") ? prefix + "SIZE" : "TEXT";
}

std::string described(const config::FieldInfo& field) {
  std::string value = config::plain_text(field.json(config::Settings{}));
  if (value == "null") value = "none";
  std::string text = field.sentence;
  if (!field.unit.empty()) text += fmt::format(" [{}]", field.unit);
  if (value != "\"\"" && value != "[]" && value != "{}") text += fmt::format(" ({})", value);
  return text;
}

// Options without a group are left out of the help.
std::string group_if(bool shown, const std::string& group) { return shown ? group : std::string(); }

// An option of that name that the command has itself or that every command has.
bool is_taken(const Command& command, const std::string& flag) {
  for (std::optional<Command> level = command; level; level = level->parent())
    if (level->has_option(flag)) return true;
  return false;
}

void add_switch(const Command& command, CommandContext& context, const config::FieldInfo& field,
                const std::string& group) {
  const bool is_on = field.json(config::Settings{}) == "true";
  const auto add = [&](const std::vector<std::string>& flags, const std::string& value) {
    for (const std::string& flag : flags) {
      if (group.empty() && is_taken(command, flag)) continue;
      const bool shown = (value == "true") != is_on && flag == flags.front();
      command
          .on_flag(
              flag,
              [&context, path = field.path, value, flag] {
                context.give({.path = path, .text = value, .origin = flag});
              },
              described(field))
          .group(group_if(shown, group));
    }
  };
  add(field.flags, "true");
  add(field.off_flags, "false");
}

const config::FieldInfo& field_at(std::string_view path) {
  const config::FieldInfo* field = config::find_field(path);
  check_invariant(field != nullptr, "an option for a setting that does not exist");
  return *field;
}

// What the index of a data set and its cache are made from.
bool is_read_by_index(const config::FieldInfo& field) {
  constexpr std::array<std::string_view, 6> kTitles{
      config::RunSettings::kTitle,     config::DataSettings::kTitle, config::RowSettings::kTitle,
      config::FeatureSettings::kTitle, config::TextSettings::kTitle, config::CacheSettings::kTitle};
  return field.path == "data.num_workers" ||
         std::find(kTitles.begin(), kTitles.end(), field.title) != kTitles.end();
}

// The model's size decides the batches of a feed, too.
bool is_read_by_training_alone(const config::FieldInfo& field) {
  constexpr std::array<std::string_view, 3> kTitles{config::TrainingSettings::kTitle,
                                                    config::OptimizerSettings::kTitle,
                                                    config::ObserveSettings::kTitle};
  constexpr std::array<std::string_view, 3> kPaths{"data.val_path", "gpu.model_start_delay",
                                                   "gpu.model_gpu_memory"};
  if (field.path == "training.model_size" || field.not_yet != config::NotYet::kRead) return false;
  return std::find(kTitles.begin(), kTitles.end(), field.title) != kTitles.end() ||
         std::find(kPaths.begin(), kPaths.end(), field.path) != kPaths.end();
}

// Adds the options of a setting that the command does not read: each gives one line.
void add_unread_option(const Command& command, CommandContext& context,
                       const config::FieldInfo& field) {
  std::vector<std::string> flags = field.flags;
  if (field.is_switch) flags.insert(flags.end(), field.off_flags.begin(), field.off_flags.end());
  for (const std::string& flag : flags) {
    if (is_taken(command, flag)) continue;
    const auto taken = [&context, &field, command, flag](const std::vector<std::string>&) {
      context.note(fmt::format("{}: `{}` does not read {}", flag, command.name(), field.path));
    };
    command.on_values(flag, taken).num_values(field.is_switch ? 0 : 1).hidden();
  }
}

}  // namespace

void add_setting_option(const Command& command, CommandContext& context,
                        const config::FieldInfo& field, const std::string& group) {
  if (field.is_switch) {
    add_switch(command, context, field, group);
    return;
  }
  for (const std::string& flag : field.flags) {
    if (group.empty() && is_taken(command, flag)) continue;
    command
        .on_option(
            flag,
            [&context, path = field.path, flag](const std::string& text) {
              context.give({.path = path, .text = text, .origin = flag});
            },
            described(field))
        .value_name(value_name(field))
        .group(group_if(flag == field.flags.front(), group));
  }
}

void add_setting_options(const Command& command, CommandContext& context,
                         std::span<const std::string_view> paths, const std::string& group) {
  for (const std::string_view path : paths)
    add_setting_option(command, context, field_at(path), group);
}

void add_data_argument(const Command& command, CommandContext& context) {
  command.on_option(
      "folder",
      [&context](const std::string& text) {
        context.give({.path = "data.path", .text = text, .origin = "folder"});
      },
      "Folder or metadata file of the data set (data.path)");
}

// Hundreds of options that are not shown would treble the time a command takes to start, so they
// are added to the one that was chosen, before its arguments are read.
void add_feed_options(const Command& command, CommandContext& context) {
  add_setting_options(command, context, kFeedSettings, "Feed options");
  command.before_arguments([command, &context] {
    for (const config::FieldInfo& field : config::all_fields()) {
      if (is_read_by_training_alone(field))
        add_unread_option(command, context, field);
      else
        add_setting_option(command, context, field, {});
    }
    add_old_flags(command, context, kOldPrograms);
  });
}

void add_train_bench_options(const Command& command, CommandContext& context) {
  constexpr std::array<std::string_view, 5> kModel{
      "training.model_size", "training.precision", "training.graphs",
      "training.gradient_accumulation_steps", "training.deterministic"};
  add_setting_options(command, context, kModel, "Model options");
  add_setting_options(command, context, kFeedSettings, "Feed options");
  command.before_arguments([command, &context] {
    for (const config::FieldInfo& field : config::all_fields())
      add_setting_option(command, context, field, {});
    add_old_flags(command, context, kOldPrograms);
  });
}

void add_index_options(const Command& command, CommandContext& context) {
  command.before_arguments([command, &context] {
    for (const config::FieldInfo& field : config::all_fields()) {
      if (is_read_by_index(field) || field.not_yet != config::NotYet::kRead)
        add_setting_option(command, context, field, {});
      else
        add_unread_option(command, context, field);
    }
    add_old_flags(command, context, kOldPrograms);
  });
}

config::CommandKind command_kind(std::string_view name) {
  using config::CommandKind;
  if (name == "train" || name == "bench train") return CommandKind::kTrain;
  if (name == "config show") return CommandKind::kShow;
  const bool runs_a_feed =
      name == "stream" || name == "profile" || name == "bench feed" || name == "demo";
  return runs_a_feed ? CommandKind::kFeed : CommandKind::kOther;
}

void add_train_options(const Command& command, CommandContext& context) {
  constexpr std::string_view kGlobal = "seed";
  for (const config::FieldInfo& field : config::all_fields())
    if (field.path != kGlobal) add_setting_option(command, context, field, field.title);
}

}  // namespace stoker::cli
