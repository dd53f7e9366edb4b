#include "stoker/data/layout_search.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "stoker/audio/file/sound_file.h"
#include "stoker/base/errors.h"
#include "stoker/base/io/paths.h"

namespace stoker::data {
namespace {

constexpr int kMaxSearchDepth = 4;
constexpr int kMaxSearchFolders = 200;

std::vector<FolderEntry> entries_of(const File& folder) {
  return list_folder(folder).take_or_raise();
}

// The suffix that the texts of this folder have, seen from one pair of files.
std::string text_suffix(const std::vector<FolderEntry>& entries) {
  constexpr std::string_view kNormalized = ".normalized.txt";
  std::set<std::string_view> names;
  for (const FolderEntry& entry : entries) {
    if (entry.name.size() > kNormalized.size() && entry.name.ends_with(kNormalized))
      return std::string(kNormalized);
    names.insert(entry.name);
  }
  for (const FolderEntry& entry : entries) {
    if (!audio::has_sound_suffix(entry.name)) continue;
    const std::string stem(without_sound_suffix(entry.name));
    for (const char* suffix : {".txt", ".lab"})
      if (names.contains(stem + suffix)) return suffix;
  }
  return {};
}

// Depth first, so that the first recording of a large data set is met after a few folders.
std::string search_suffix(const File& folder, int depth, int& num_folders) {
  if (++num_folders > kMaxSearchFolders) return {};
  const std::vector<FolderEntry> entries = entries_of(folder);
  std::string found = text_suffix(entries);
  for (const FolderEntry& entry : entries) {
    if (!found.empty() || depth == kMaxSearchDepth || num_folders > kMaxSearchFolders) break;
    if (entry.kind != FileKind::kFolder || entry.name.starts_with('.')) continue;
    Result<File> inside = open_beneath(folder, entry.name, OpenFor::kFolder);
    // A file system's own lost+found is closed to its users, and what was there may be gone by now.
    if (!inside.ok() && (inside.error().code->name == kIoAccess.name ||
                         inside.error().code->name == kIoMissing.name))
      continue;
    found = search_suffix(std::move(inside).take_or_raise(), depth + 1, num_folders);
  }
  return found;
}

// The folder of sounds beside txt/; VCTK's trimmed recordings are preferred.
std::string sound_beside_texts(const std::vector<FolderEntry>& entries) {
  const auto is_folder = [&](std::string_view name) {
    return std::any_of(entries.begin(), entries.end(), [&](const FolderEntry& entry) {
      return entry.name == name && entry.kind == FileKind::kFolder;
    });
  };
  if (!is_folder("txt")) return {};
  for (const char* name : {"wav48_silence_trimmed", "wav48", "wav16", "wavs", "wav"})
    if (is_folder(name)) return name;
  return {};
}

}  // namespace

bool exists(const File& folder, const std::string& name) {
  return info_if_present(folder.io(), folder.handle(), name).take_or_raise().has_value();
}

std::optional<PartFiles> find_part_files(const File& folder) {
  struct Naming {
    std::string_view before;
    std::string_view after;
  };
  constexpr std::array<Naming, 4> kNamings{
      {{"metadata_", ""}, {"", ""}, {"", "_manifest"}, {"", "/metadata"}}};
  constexpr std::array<std::string_view, 6> kEvalNames{"dev", "validation", "valid",
                                                       "val", "eval",       "test"};
  for (const Naming& naming : kNamings)
    for (const std::string_view suffix : {".tsv", ".csv", ".jsonl", ".json"}) {
      const auto name_of = [&](std::string_view part) {
        return std::string(naming.before).append(part).append(naming.after).append(suffix);
      };
      if (!exists(folder, name_of("train"))) continue;
      PartFiles found{.train = name_of("train"), .eval = {}};
      for (const std::string_view name : kEvalNames)
        if (found.eval.empty() && exists(folder, name_of(name))) found.eval = name_of(name);
      return found;
    }
  return std::nullopt;
}

std::optional<TextFolder> find_text_files(const File& folder) {
  TextFolder out;
  out.sound = sound_beside_texts(entries_of(folder));
  if (!out.sound.empty()) {
    out.files = {.folder = "txt", .suffix = ".txt", .speaker_above = 1};
    return out;
  }
  int num_folders = 0;
  out.files.suffix = search_suffix(folder, 0, num_folders);
  if (out.files.suffix.empty()) return std::nullopt;
  const bool is_libritts = out.files.suffix == ".normalized.txt";
  out.files.speaker_above = is_libritts ? 2 : 0;
  return out;
}

std::string only_table(const File& folder) {
  std::string only;
  for (const FolderEntry& entry : entries_of(folder)) {
    const std::string_view name = entry.name;
    const bool is_table =
        name.ends_with(".csv") || name.ends_with(".tsv") || name.ends_with(".jsonl");
    if (!is_table || name.starts_with('.') || entry.kind == FileKind::kFolder) continue;
    if (!only.empty()) return {};
    only = name;
  }
  return only;
}

bool holds_sound(const File& folder) {
  const std::vector<FolderEntry> entries = entries_of(folder);
  return std::any_of(entries.begin(), entries.end(),
                     [](const FolderEntry& entry) { return audio::has_sound_suffix(entry.name); });
}

}  // namespace stoker::data
