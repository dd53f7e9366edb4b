#include "stoker/config/check_settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "stoker/base/io/paths.h"
#include "stoker/config/errors.h"
#include "stoker/config/field_table.h"
#include "stoker/config/value_text.h"

namespace stoker::config {
namespace {

const ValueSource& source_of(const LoadedSettings& loaded, std::string_view path) {
  return loaded.sources[index_of(*find_field(path))];
}

// The place of the stronger of two settings: that is the one to correct.
const Place& blame(const LoadedSettings& loaded, std::string_view a, std::string_view b) {
  const ValueSource& first = source_of(loaded, a);
  const ValueSource& second = source_of(loaded, b);
  return first.kind >= second.kind ? first.place : second.place;
}

struct Pair {
  std::string_view path;  // the one that must not be larger
  double value;
  std::string_view limit_path;
  double limit;
};

void require_at_most(const LoadedSettings& loaded, const Pair& pair) {
  if (pair.value <= pair.limit) return;
  raise({.code = &kConfigConflict,
         .place = blame(loaded, pair.path, pair.limit_path),
         .found = fmt::format("{} = {} exceeds {} = {}", pair.path, write_json(pair.value),
                              pair.limit_path, write_json(pair.limit))});
}

// A recipe knows its values and not where they were given.
template <class Work>
auto with_place_of_mel(const LoadedSettings& loaded, Work work) {
  try {
    return work();
  } catch (const ConfigError& failure) {
    Error error = failure.error();
    if (error.code == &kMelValue && !loaded.settings.features.mel.empty())
      error.place = source_of(loaded, "features.mel").place;
    raise(std::move(error));
  }
}

void check_recipe(const LoadedSettings& loaded) {
  const MelRecipe mel =
      with_place_of_mel(loaded, [&] { return recipe_of(loaded.settings.features); });
  const auto as_number = [](std::int64_t value) { return static_cast<double>(value); };
  require_at_most(loaded, {"features.win_length", as_number(mel.win_samples), "features.n_fft",
                           as_number(mel.n_fft)});
  require_at_most(loaded, {"features.hop_length", as_number(mel.hop_samples), "features.win_length",
                           as_number(mel.win_samples)});
  const double nyquist_hz = as_number(mel.sample_rate_hz) / 2;
  if (mel.fmax_hz > nyquist_hz)
    raise({.code = &kConfigConflict,
           .place = blame(loaded, "features.fmax", "features.sample_rate"),
           .found =
               fmt::format("features.fmax = {} exceeds {}, half of features.sample_rate = {}",
                           write_json(mel.fmax_hz), write_json(nyquist_hz), mel.sample_rate_hz)});
  if (mel.fmin_hz >= mel.fmax_hz)
    raise({.code = &kConfigConflict,
           .place = blame(loaded, "features.fmin", "features.fmax"),
           .found = fmt::format("features.fmin = {} is not below features.fmax = {}",
                                write_json(mel.fmin_hz), write_json(mel.fmax_hz))});
  with_place_of_mel(loaded, [&] { check_mel_recipe(mel); });
}

void check_limits(const LoadedSettings& loaded) {
  const RowSettings& rows = loaded.settings.rows;
  const double most_s = rows.max_audio_s.value_or(1e18);
  require_at_most(loaded,
                  {"data.min_audio_length", rows.min_audio_s, "data.max_audio_length", most_s});
  require_at_most(loaded, {"data.min_text_length", static_cast<double>(rows.min_text_length),
                           "data.max_text_length",
                           static_cast<double>(rows.max_text_length.value_or(INT64_MAX))});
  const OptimizerSettings& optimizer = loaded.settings.optimizer;
  require_at_most(loaded, {"training.min_learning_rate", optimizer.min_learning_rate,
                           "training.learning_rate", optimizer.learning_rate});
  const DataSettings& data = loaded.settings.data;
  if (data.train_split + data.val_split > 1.0 + 1e-9)
    raise({.code = &kConfigConflict,
           .place = blame(loaded, "data.train_split", "data.val_split"),
           .found = fmt::format("data.train_split = {} and data.val_split = {} sum to more than 1",
                                write_json(data.train_split), write_json(data.val_split))});
}

void check_ranks(const LoadedSettings& loaded) {
  const LoaderSettings& loader = loaded.settings.loader;
  if (!loader.rank || !loader.world_size || *loader.rank < *loader.world_size) return;
  raise({.code = &kConfigConflict,
         .place = blame(loaded, "data.rank", "data.world_size"),
         .found = fmt::format("data.rank = {} is not below data.world_size = {}", *loader.rank,
                              *loader.world_size)});
}

void check_device(const LoadedSettings& loaded) {
  const std::string& device = loaded.settings.run.device;
  const bool numbered =
      device.starts_with("cuda:") && device.size() > 5 && device.size() <= 9 &&
      std::all_of(device.begin() + 5, device.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (numbered || device == "auto" || device == "cpu" || device == "cuda") return;
  raise({.code = &kConfigValue,
         .place = source_of(loaded, "device").place,
         .promised = "device auto, cpu, cuda or cuda:N",
         .found = fmt::format("\"{}\"", device)});
}

void check_text(const LoadedSettings& loaded) {
  const TextSettings& text = loaded.settings.text;
  if (text.vocabulary == "sentencepiece" && text.vocabulary_file.empty())
    raise({.code = &kConfigConflict,
           .place = source_of(loaded, "text.vocabulary").place,
           .promised = "text.vocabulary_file for text.vocabulary: sentencepiece",
           .found = "none"});
  const DataSettings& data = loaded.settings.data;
  if (!data.path.empty() && !data.sources.empty())
    raise({.code = &kConfigConflict,
           .place = blame(loaded, "data.path", "data.sources"),
           .found = "data.path and data.sources are both given",
           .cure = "list every data set in data.sources, or give data.path alone"});
}

[[noreturn]] void refuse_folder(const std::string& folder, std::string found) {
  raise({.code = &kConfigFolder, .place = {.file = folder}, .found = std::move(found)});
}

bool is_inert(const FieldInfo& field, const Settings& settings) {
  const std::string value = plain_text(field.json(settings));
  if (!field.not_yet_value.empty())  // "on" keeps its quotes: without them it is no text in YAML
    return value != field.not_yet_value && value != "\"" + field.not_yet_value + "\"";
  if (value != plain_text(field.json(Settings{}))) return false;
  // Of what equals the default only a number asks for something; off, empty and ranges do not.
  const bool is_range = value.starts_with('[');
  return field.is_switch || value == "auto" || field.takes_nothing || is_range;
}

bool concerns(const FieldInfo& field, SourceKind source, CommandKind command) {
  if (source < SourceKind::kFile) return false;
  if (field.not_yet == NotYet::kFeedAlone) return command == CommandKind::kFeed;
  if (source >= SourceKind::kCommandLine || command >= CommandKind::kTrain) return true;
  return command == CommandKind::kFeed && field.not_yet == NotYet::kFeed;
}

std::vector<const FieldInfo*> fields_without_effect(const LoadedSettings& loaded,
                                                    CommandKind command) {
  std::vector<const FieldInfo*> found;
  for (const FieldInfo& field : all_fields()) {
    if (field.not_yet == NotYet::kRead) continue;
    if (!concerns(field, loaded.sources[index_of(field)].kind, command)) continue;
    if (!is_inert(field, loaded.settings)) found.push_back(&field);
  }
  return found;
}

// A value without effect is named with it: "data.batch_frames: auto".
std::string name_of(const FieldInfo& field) {
  return field.not_yet_value.empty() ? field.path : field.path + ": " + field.not_yet_value;
}

}  // namespace

void check_settings(const LoadedSettings& loaded) {
  check_device(loaded);
  check_recipe(loaded);
  check_limits(loaded);
  check_ranks(loaded);
  check_text(loaded);
}

void check_cache_folder(const std::string& cache_dir, const std::string& data_path) {
  namespace fs = std::filesystem;
  if (cache_dir.empty()) return;
  std::error_code ignored;
  const fs::path cache = real_path(cache_dir);
  if (cache == cache.root_path()) refuse_folder(cache_dir, "the cache folder is the root");
  if (!data_path.empty() && cache == real_path(data_path))
    refuse_folder(cache_dir, "the cache folder is the data set's own folder");
  const fs::path existing = nearest_existing(cache);
  if (!fs::is_directory(existing, ignored))
    refuse_folder(cache_dir, fmt::format("{} is not a folder", existing.string()));
  if (access(existing.c_str(), W_OK | X_OK) != 0)
    refuse_folder(cache_dir, fmt::format("{} cannot be written by this user", existing.string()));
}

std::string no_effect_line(const LoadedSettings& loaded, CommandKind command) {
  std::string line;
  for (const FieldInfo* field : fields_without_effect(loaded, command)) {
    line += line.empty() ? "has no effect yet: " : ", ";
    line += fmt::format("{} ({})", name_of(*field), source_text(loaded.sources[index_of(*field)]));
  }
  return line;
}

void refuse_no_effect(const LoadedSettings& loaded, CommandKind command) {
  const std::vector<const FieldInfo*> fields = fields_without_effect(loaded, command);
  if (fields.empty() || command == CommandKind::kShow) return;
  raise({.code = &kConfigNoEffect,
         .place = loaded.sources[index_of(*fields.front())].place,
         .promised = "only settings that have an effect (--strict)",
         .found = name_of(*fields.front()) + ", which has no effect yet"});
}

}  // namespace stoker::config
