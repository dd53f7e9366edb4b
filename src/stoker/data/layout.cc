#include "stoker/data/layout.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "stoker/data/errors.h"

namespace stoker::data {
namespace {

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string last_part(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

bool exists(const File& folder, const std::string& name) {
  FileInfo info;
  return folder.io().info_at(folder.handle(), name, info).ok();
}

bool is_absolute(const std::string& path) { return path.starts_with('/'); }

std::string joined(const std::string& folder, const std::string& path) {
  return is_absolute(path) || folder.empty() ? path : folder + "/" + path;
}

LayoutKind kind_by_name(const std::string& name, const SourceOptions& source) {
  if (name.ends_with(".jsonl") || name.ends_with(".json") || name.ends_with(".ndjson"))
    return LayoutKind::kJson;
  if (!source.columns.empty() || name.ends_with(".tsv")) return LayoutKind::kTable;
  return LayoutKind::kPipes;
}

FindBy find_by_kind(LayoutKind kind) {
  if (kind == LayoutKind::kPipes) return FindBy::kId;
  return kind == LayoutKind::kTable ? FindBy::kBoth : FindBy::kPath;
}

// The metadata file of one role, and where the user says its sound is.
struct Wanted {
  Split role = Split::kAll;
  LayoutKind kind = LayoutKind::kPipes;
  std::string metadata;  // path
  std::string sound;     // as given; empty = look for it
};

// The sound folder beside the metadata file: the first of the usual names that is there.
std::string usual_sound_folder(const File& folder, Split role) {
  std::vector<std::string> names{"wavs", "wav", "audio", "clips"};
  if (role == Split::kTrain) names.insert(names.begin(), "wavs_train");
  if (role == Split::kEval) names.insert(names.begin(), "wavs_eval");
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& name) { return exists(folder, name); });
  return found == names.end() ? std::string() : *found;
}

Result<MetadataSource> open_wanted(const Wanted& wanted, const SourceOptions& source, Io& io) {
  MetadataSource out;
  out.kind = wanted.kind;
  out.find_by = find_by_kind(wanted.kind);
  out.role = wanted.role;
  auto metadata = open_file(io, wanted.metadata, OpenFor::kRead);
  if (!metadata.ok()) return std::move(metadata).error();
  auto folder = open_file(io, parent_of(wanted.metadata), OpenFor::kFolder);
  if (!folder.ok()) return std::move(folder).error();
  std::string root_path = folder->path();
  if (!source.audio_root.empty())
    root_path = joined(root_path, source.audio_root);
  else if (!wanted.sound.empty())
    root_path = joined(root_path, wanted.sound);
  else if (out.find_by == FindBy::kId)
    out.sound = usual_sound_folder(*folder, wanted.role);
  auto root = open_file(io, root_path, OpenFor::kFolder);
  if (!root.ok()) return std::move(root).error();
  out.metadata = std::move(*metadata);
  out.folder = std::move(*folder);
  out.root = std::move(*root);
  return out;
}

Error unknown_layout(const SourceOptions& source) {
  return {.code = &kDataLayout,
          .place = {.file = source.path},
          .promised =
              "metadata.csv, metadata_train.csv, manifest.jsonl, or Kaldi's wav.scp and "
              "text",
          .found = "none of them"};
}

std::vector<Wanted> wanted_by_roles(const File& folder, const SourceOptions& source) {
  const auto path_or = [&](const std::string& given, const char* usual) {
    return joined(folder.path(), given.empty() ? usual : given);
  };
  std::vector<Wanted> out;
  if (!source.metadata_train.empty() || exists(folder, "metadata_train.csv"))
    out.push_back({Split::kTrain, LayoutKind::kPipes,
                   path_or(source.metadata_train, "metadata_train.csv"), source.wavs_train});
  if (!source.metadata_eval.empty() || (!out.empty() && exists(folder, "metadata_eval.csv")))
    out.push_back({Split::kEval, LayoutKind::kPipes,
                   path_or(source.metadata_eval, "metadata_eval.csv"), source.wavs_eval});
  for (Wanted& wanted : out) wanted.kind = kind_by_name(wanted.metadata, source);
  return out;
}

std::vector<Wanted> wanted_in_folder(const File& folder, const SourceOptions& source) {
  std::vector<Wanted> out = wanted_by_roles(folder, source);
  if (!out.empty()) return out;
  if (exists(folder, "wav.scp") && exists(folder, "text"))
    return {{Split::kAll, LayoutKind::kKaldi, folder.path() + "/text", {}}};
  for (const char* name : {"metadata.csv", "metadata.tsv", "manifest.jsonl", "manifest.json"})
    if (exists(folder, name))
      return {
          {Split::kAll, kind_by_name(name, source), folder.path() + "/" + name, source.wavs_train}};
  return {};
}

}  // namespace

Result<std::vector<MetadataSource>> open_layout(const SourceOptions& source, Io& io) {
  auto opened = open_file(io, source.path, OpenFor::kRead);
  if (!opened.ok()) return std::move(opened).error();
  auto info = opened->info();
  if (!info.ok()) return std::move(info).error();
  std::vector<Wanted> wanted;
  if (info->kind == FileKind::kFolder)
    wanted = wanted_in_folder(*opened, source);
  else if (info->kind == FileKind::kRegular)
    wanted = {{Split::kAll, kind_by_name(source.path, source), source.path, source.wavs_train}};
  if (wanted.empty()) return unknown_layout(source);
  std::vector<MetadataSource> out;
  const bool is_folder = info->kind == FileKind::kFolder;
  for (const Wanted& one : wanted) {
    auto metadata = open_wanted(one, source, io);
    if (!metadata.ok()) return std::move(metadata).error();
    metadata->name = !source.name.empty()
                         ? source.name
                         : last_part(is_folder ? source.path : parent_of(source.path));
    out.push_back(std::move(*metadata));
  }
  return out;
}

std::string usual_metadata_file(const File& folder) {
  const std::vector<Wanted> wanted = wanted_in_folder(folder, {});
  const bool is_one = wanted.size() == 1 && wanted.front().role == Split::kAll;
  return is_one ? last_part(wanted.front().metadata) : std::string();
}

}  // namespace stoker::data
