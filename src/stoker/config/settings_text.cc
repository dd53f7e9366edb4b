#include "stoker/config/settings_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "stoker/base/number_text.h"
#include "stoker/config/field_table.h"
#include "stoker/config/legacy/known_names.h"
#include "stoker/config/legacy/myxtts_tables.h"
#include "stoker/config/size_figures.h"
#include "stoker/config/size_values.h"
#include "stoker/config/value_text.h"

namespace stoker::config {
namespace {

constexpr std::string_view kHead = R"(# Settings

This page is written by `stoker config reference settings`; a test compares them.

A setting is given in a YAML file (`--config FILE`), by an environment variable
(`data.batch_size` is `STOKER_DATA__BATCH_SIZE`), by an option, or by `--set data.batch_size=48`;
the later of these wins. `stoker config show` prints every value and where it came from. *Affects*
says which digest a setting is part of: features and text decide whether a cached record is still
valid, order decides whether a run can be resumed. Sizes are written `8GiB`, `512MiB`, `64KiB`.
A setting with *No effect yet* is read by nothing so far: a command that would read it says so in one
line, and ends with E-CONFIG-NOEFFECT under `--strict`.
)";

std::string escaped_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string default_text(const FieldInfo& field) {
  const std::string value = plain_text(field.json(Settings{}));
  return value == "null" ? "none" : value;
}

std::string allowed_text(const FieldInfo& field) {
  const std::string prefix = field.kind.starts_with("auto or ")   ? "auto, "
                             : field.kind.starts_with("none or ") ? "none, "
                                                                  : "";
  if (!field.choices.empty()) return prefix + fmt::format("{}", fmt::join(field.choices, ", "));
  std::string text = field.range.empty() ? field.kind : prefix + field.range;
  if (!field.unit.empty()) text += " " + field.unit;
  return text;
}

std::string flags_text(const FieldInfo& field) {
  std::vector<std::string> flags = field.flags;
  if (field.is_switch) flags.insert(flags.end(), field.off_flags.begin(), field.off_flags.end());
  return fmt::format("`{}`", fmt::join(flags, "`, `"));
}

std::string sentence_text(const FieldInfo& field) {
  if (field.not_yet == NotYet::kRead) return field.sentence;
  if (field.not_yet_value.empty()) return field.sentence + " *No effect yet.*";
  return fmt::format("{} *{}: no effect yet.*", field.sentence, field.not_yet_value);
}

std::string field_row(const FieldInfo& field) {
  return fmt::format("| `{}` | `{}` | {} | {} | {} | {} |\n", field.path, default_text(field),
                     escaped_cell(allowed_text(field)), escaped_cell(sentence_text(field)),
                     affects_name(field.affects), flags_text(field));
}

std::string field_tables() {
  std::string text;
  std::string title;
  for (const FieldInfo& field : all_fields()) {
    if (field.title != title) {
      title = field.title;
      text += fmt::format(
          "\n## {}\n\n| setting | default | allowed | what it does | affects | options |\n"
          "|---|---|---|---|---|---|\n",
          title);
    }
    text += field_row(field);
  }
  return text;
}

std::string size_table() {
  std::string text = fmt::format(
      "\n## Model sizes\n\nWhat `training.model_size` brings along; an optimisation level and a "
      "value that is given win over it, and files of myxtts have their own defaults instead. "
      "Parameters are those with the vocabulary of English characters; memory is the most that the "
      "process took, time the median of a step, both measured: {}.\n\n"
      "| size | parameters | memory | step | values |\n|---|---|---|---|---|\n",
      kSizeFiguresSource);
  for (std::size_t size = 0; size < kModelSizeNames.size(); ++size) {
    std::vector<std::string> values;
    for (const auto& [path, value] : size_values(static_cast<ModelSize>(size)))
      values.push_back(fmt::format("`{}: {}`", path, value));
    const SizeFigures& figures = kSizeFigures[size];
    text +=
        fmt::format("| {} | {} | {} MiB | {:.0f} ms | {} |\n", kModelSizeNames[size],
                    grouped(figures.num_parameters), grouped(figures.peak_mib), figures.step_ms,
                    values.empty() ? "the defaults" : fmt::format("{}", fmt::join(values, ", ")));
  }
  return text;
}

std::string level_table() {
  std::string text =
      "\n## Optimisation levels\n\nWhat `training.optimization_level` sets, for each "
      "`training.model_size`; a value that is given wins over it.\n\n| level | size | values |\n"
      "|---|---|---|\n";
  for (std::size_t level = 1; level < kOptimizationLevelNames.size(); ++level) {
    for (std::size_t size = 0; size < kModelSizeNames.size(); ++size) {
      std::vector<std::string> values;
      for (const auto& [path, value] :
           level_values(static_cast<OptimizationLevel>(level), static_cast<ModelSize>(size)))
        values.push_back(fmt::format("`{}: {}`", path.substr(path.find('.') + 1), value));
      text += fmt::format("| {} | {} | {} |\n", kOptimizationLevelNames[level],
                          kModelSizeNames[size], fmt::join(values, ", "));
    }
  }
  return text;
}

std::string myxtts_names() {
  std::string text =
      "\n## Names of myxtts\n\nThese mean the same setting; a file that uses any name of myxtts "
      "and sets no `features.preset` is read with the defaults of myxtts.\n\n| its name "
      "| ours |\n|---|---|\n";
  for (const FieldInfo& field : all_fields())
    for (const std::string& path : field.myxtts_paths)
      text += fmt::format("| `{}` | `{}` |\n", path, field.path);
  text += "\nThe defaults that such a file brings:\n\n| setting | its default |\n|---|---|\n";
  for (const auto& [path, value] : myxtts_defaults())
    text += fmt::format("| `{}` | `{}` |\n", path, value);
  text +=
      "\nThese are accepted with one line and change nothing:\n\n| section | names | why |\n"
      "|---|---|---|\n";
  for (const MyxttsNotice& row : myxtts_notices())
    text += fmt::format("| `{}` | {} | {} |\n", row.section, row.names, row.notice);
  return text;
}

// The two ways to size a batch exclude each other in a file.
bool is_shut_out(const FieldInfo& field, const BatchSettings& batch) {
  if (field.path == "data.batch_size") return !batch.batch_size;
  return field.path == "data.batch_frames" && batch.batch_size;
}

std::string write(const Settings& settings, const std::function<bool(const FieldInfo&)>& wanted) {
  std::string text;
  std::string section;
  for (const FieldInfo& field : all_fields()) {
    if (!wanted(field) || is_shut_out(field, settings.batch)) continue;
    if (field.section != section) {
      text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", field.section);
      section = field.section;
    }
    std::string value = plain_text(field.json(settings));
    if (value == "null") value = "none";
    text += fmt::format("{}{}: {}\n", section.empty() ? "" : "  ", field.name, value);
  }
  return text;
}

// These only say how the recipe is made; its values are digested instead.
bool is_part_of_recipe(const FieldInfo& field) {
  constexpr std::array<std::string_view, 9> kNames{"preset",     "sample_rate", "n_fft",
                                                   "hop_length", "win_length",  "n_mels",
                                                   "fmin",       "fmax",        "mel"};
  return field.section == "features" &&
         std::find(kNames.begin(), kNames.end(), field.name) != kNames.end();
}

}  // namespace

std::string settings_page() {
  return std::string(kHead) + field_tables() + size_table() + level_table() + myxtts_names();
}

std::string settings_yaml(const Settings& settings) {
  return write(settings, [](const FieldInfo&) { return true; });
}

std::string given_yaml(const LoadedSettings& loaded) {
  return write(loaded.settings, [&loaded](const FieldInfo& field) {
    return loaded.sources[index_of(field)].kind > SourceKind::kSize;
  });
}

std::vector<std::pair<std::string, std::string>> group_values(const Settings& settings,
                                                              Affects group) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const FieldInfo& field : all_fields())
    if (field.affects == group && !is_part_of_recipe(field))
      values.emplace_back(field.path, field.json(settings));
  if (group == Affects::kFeatures)
    for (const auto& [key, value] : mel_recipe_values(recipe_of(settings.features)))
      values.emplace_back("mel." + key, value);
  std::sort(values.begin(), values.end());
  return values;
}

Digest128 settings_digest(const Settings& settings, Affects group) {
  DigestStream stream;
  for (const auto& [path, value] : group_values(settings, group)) {
    stream.add_text(path);
    stream.add_text(value);
  }
  return stream.finish();
}

}  // namespace stoker::config
