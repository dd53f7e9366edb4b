#include "stoker/cache/maintain/legacy_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "stoker/base/io/paths.h"
#include "stoker/cache/errors.h"

namespace stoker::cache {
namespace {

std::string_view last_name(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value <= 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

Error two_of_a_kind(const std::string& first, const std::string& second) {
  Error error;
  error.code = &kImportTwice;
  error.place.file = first;
  error.promised = "one folder of its kind";
  error.found = second + " as a second one";
  return error;
}

// Notes the folder by its name; false when the name means nothing.
Result<bool> note_folder(const std::string& path, LegacyFolders& found) {
  const std::string_view name = last_name(path);
  if (const auto tokens = parse_tokens_name(name)) {
    if (!found.tokens_path.empty()) return two_of_a_kind(found.tokens_path, path);
    found.tokens_path = path;
    found.tokens = *tokens;
    return true;
  }
  if (const auto mels = parse_mels_name(name)) {
    if (!found.mels_path.empty()) return two_of_a_kind(found.mels_path, path);
    found.mels_path = path;
    found.mels = *mels;
    return true;
  }
  if (name != "cached_features") return false;
  found.mixed_path = path;
  return true;
}

Result<void> note_below(Io& io, const std::string& path, LegacyFolders& found) {
  Result<File> folder = open_file(io, path, OpenFor::kFolder);
  if (!folder) return std::move(folder).error();
  const Result<std::vector<FolderEntry>> entries = list_folder(*folder);
  if (!entries) return entries.error();
  for (const FolderEntry& entry : *entries) {
    if (entry.kind != FileKind::kFolder || entry.name.starts_with('.')) continue;
    const std::string below = path + "/" + entry.name;
    if (entry.name == "processed") {
      if (Result<void> done = note_below(io, below, found); !done) return done;
    } else if (Result<bool> noted = note_folder(below, found); !noted) {
      return std::move(noted).error();
    }
  }
  return {};
}

}  // namespace

std::optional<LegacyTokens> parse_tokens_name(std::string_view folder_name) {
  LegacyTokens tokens;
  if (!take_word(folder_name, "tokens_custom_")) return std::nullopt;
  tokens.phonemes = take_word(folder_name, "ph_");
  if (!tokens.phonemes && !take_word(folder_name, "noph_")) return std::nullopt;
  tokens.add_blank = take_word(folder_name, "blank_");
  if (!tokens.add_blank && !take_word(folder_name, "noblank_")) return std::nullopt;
  if (folder_name.empty()) return std::nullopt;
  tokens.language = folder_name;
  return tokens;
}

std::optional<LegacyMels> parse_mels_name(std::string_view folder_name) {
  if (!take_word(folder_name, "mels_sr")) return std::nullopt;
  const auto rate = take_number(folder_name);
  if (!rate || !take_word(folder_name, "_n")) return std::nullopt;
  const auto mels = take_number(folder_name);
  if (!mels || !take_word(folder_name, "_hop")) return std::nullopt;
  const auto hop = take_number(folder_name);
  if (!hop || !folder_name.empty()) return std::nullopt;
  return LegacyMels{*rate, *mels, *hop};
}

Result<LegacyFolders> find_legacy_folders(Io& io, const std::string& path) {
  LegacyFolders found;
  Result<bool> itself = note_folder(path, found);
  if (!itself) return std::move(itself).error();
  if (*itself) return found;
  if (Result<void> done = note_below(io, path, found); !done) return done.error();
  if (!found.tokens_path.empty() || !found.mels_path.empty() || !found.mixed_path.empty())
    return found;
  Error error;
  error.code = &kImportEmpty;
  error.place.file = path;
  error.promised = "tokens_custom_…, mels_sr… or cached_features folders";
  error.found = "none of them";
  return error;
}

config::Settings legacy_settings(const LegacyFolders& folders) {
  config::Settings settings;
  settings.features.preset = "myxtts";
  settings.features.sample_rate_hz = folders.mels.sample_rate_hz;
  settings.features.num_mels = folders.mels.num_mels;
  settings.features.hop_samples = folders.mels.hop_samples;
  settings.text.vocabulary = "myxtts";
  settings.text.cleaner = "english_cleaners";
  settings.text.unknown = config::UnknownCharacters::kDrop;
  settings.text.add_blank = folders.tokens.add_blank;
  settings.text.language = folders.tokens.language;
  return settings;
}

}  // namespace stoker::cache
