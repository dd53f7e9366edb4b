#include "stoker/config/load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "stoker/config/check_settings.h"
#include "stoker/config/errors.h"
#include "stoker/config/field_table.h"
#include "stoker/config/layers.h"

namespace stoker::config {
namespace {

// A file that uses a name only myxtts has is one of its files, unless it names a preset of ours.
const GivenValue* sign_of_myxtts(const std::vector<GivenValue>& values) {
  const GivenValue* sign = nullptr;
  for (const GivenValue& given : values) {
    if (given.name.field == find_field("features.preset")) return nullptr;
    if (given.name.is_of_myxtts() && sign == nullptr) sign = &given;
  }
  return sign;
}

void load_file(const std::string& file, Layers& layers, LoadedSettings& loaded) {
  std::vector<std::string> notices;
  const std::vector<GivenValue> values = file_values(load_yaml(file), notices);
  const GivenValue* sign = sign_of_myxtts(values);
  if (sign != nullptr) {
    loaded.from_myxtts = true;
    loaded.notices.push_back(
        fmt::format("{}: {} is a name of myxtts: preset myxtts and the defaults of myxtts apply; "
                    " `stoker config migrate {}` writes the native form",
                    source_text(sign->source), sign->name.path, file));
    layers.use_myxtts_defaults();
  }
  loaded.notices.insert(loaded.notices.end(), notices.begin(), notices.end());
  layers.apply(values);
}

// Of the two ways to size a batch the one from the stronger source is in force.
void settle_batch_size(LoadedSettings& loaded) {
  const ValueSource& size = loaded.sources[index_of(*find_field("data.batch_size"))];
  const ValueSource& frames = loaded.sources[index_of(*find_field("data.batch_frames"))];
  BatchSettings& batch = loaded.settings.batch;
  if (!batch.batch_size || frames.kind == SourceKind::kDefault) return;
  if (frames.kind == size.kind)
    raise({.code = &kConfigConflict,
           .place = frames.place,
           .found = fmt::format("data.batch_frames and data.batch_size ({}) are both given",
                                source_text(size)),
           .cure = "keep one of them: a batch is sized by frames or by utterances"});
  if (frames.kind > size.kind) batch.batch_size = {};
}

}  // namespace

std::string source_text(const ValueSource& source) {
  switch (source.kind) {
    case SourceKind::kDefault:
      return "default";
    case SourceKind::kSize:
      return "training.model_size";
    case SourceKind::kMyxtts:
      return "the default of myxtts";
    case SourceKind::kLevel:
      return "training.optimization_level";
    default:
      break;
  }
  return source.place.line ? fmt::format("{}:{}", source.place.file, *source.place.line)
                           : source.place.file;
}

LoadedSettings load_settings(const SettingsInputs& inputs) {
  LoadedSettings loaded;
  Layers layers(loaded);
  if (!inputs.file.empty()) load_file(inputs.file, layers, loaded);
  layers.apply(environment_values(inputs.environment));
  layers.apply(command_line_values(inputs.command_line));
  layers.apply(keyword_values(inputs.keywords));
  layers.apply(set_values(inputs.set));
  layers.apply_size();
  layers.apply_level();
  settle_batch_size(loaded);
  check_settings(loaded);
  return loaded;
}

std::vector<std::pair<std::string, std::string>> stoker_environment() {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (!text.starts_with("STOKER_") || equals == text.npos) continue;
    found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace stoker::config
