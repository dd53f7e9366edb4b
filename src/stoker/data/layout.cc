#include "stoker/data/layout.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "stoker/base/errors.h"
#include "stoker/data/errors.h"
#include "stoker/data/layout_search.h"

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

std::string joined(const std::string& folder, const std::string& path) {
  return path.starts_with('/') || folder.empty() ? path : folder + "/" + path;
}

FindBy find_by_kind(LayoutKind kind) {
  if (kind == LayoutKind::kPipes || kind == LayoutKind::kTextFiles) return FindBy::kId;
  return kind == LayoutKind::kTable ? FindBy::kBoth : FindBy::kPath;
}

// The metadata file of one role, and where the user says its sound is.
struct Wanted {
  Split role = Split::kAll;
  std::string metadata;              // path
  std::string sound{};               // as given; empty = look for it
  std::optional<LayoutKind> kind{};  // absent = by the file's content
  TextFolder texts{};                // of kTextFiles
  bool gives_way = false;            // its rows that another file names are that file's
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

// A relative audio_root starts from the working folder, as data.path does; one that is not there
// starts from the metadata file's folder.
Result<File> open_audio_root(const std::string& audio_root, const std::string& folder, Io& io) {
  auto here = open_file(io, audio_root, OpenFor::kFolder);
  if (here.ok() || audio_root.starts_with('/') || here.error().code->name != kIoMissing.name)
    return here;
  auto beside = open_file(io, joined(folder, audio_root), OpenFor::kFolder);
  return beside.ok() ? std::move(beside) : std::move(here);
}

Result<File> open_root(const Wanted& wanted, const SourceOptions& source, const File& folder,
                       Io& io) {
  if (!source.audio_root.empty()) return open_audio_root(source.audio_root, folder.path(), io);
  const std::string path =
      wanted.sound.empty() ? folder.path() : joined(folder.path(), wanted.sound);
  return open_file(io, path, OpenFor::kFolder);
}

Result<MetadataSource> open_wanted(const Wanted& wanted, const SourceOptions& source, Io& io) {
  const bool is_texts = wanted.kind == LayoutKind::kTextFiles;
  auto metadata = open_file(io, wanted.metadata, is_texts ? OpenFor::kFolder : OpenFor::kRead);
  if (!metadata.ok()) return std::move(metadata).error();
  auto folder =
      open_file(io, is_texts ? wanted.metadata : parent_of(wanted.metadata), OpenFor::kFolder);
  if (!folder.ok()) return std::move(folder).error();
  auto root = open_root(wanted, source, *folder, io);
  if (!root.ok()) return std::move(root).error();
  MetadataSource out;
  if (wanted.kind) {
    out.kind = *wanted.kind;
  } else {
    const Result<LayoutKind> kind = metadata_kind(*metadata, source);
    if (!kind.ok()) return kind.error();
    out.kind = *kind;
  }
  out.find_by = find_by_kind(out.kind);
  out.role = wanted.role;
  out.gives_way = wanted.gives_way;
  const bool looks_for_sound = source.audio_root.empty() && wanted.sound.empty();
  if (is_texts && source.audio_root.empty()) out.sound = wanted.texts.sound;
  if (out.kind == LayoutKind::kPipes && looks_for_sound)
    out.sound = usual_sound_folder(*folder, wanted.role);
  out.texts = wanted.texts.files;
  out.metadata = std::move(*metadata);
  out.folder = std::move(*folder);
  out.root = std::move(*root);
  return out;
}

// The files that one metadata file for everything may be, the first that is there.
std::string whole_metadata(const File& folder) {
  for (const char* name :
       {"metadata.csv", "metadata.tsv", "metadata.jsonl", "manifest.jsonl", "manifest.json"})
    if (exists(folder, name)) return name;
  return {};
}

// Where only the evaluation part is named, all else of the folder is to train on.
std::vector<Wanted> wanted_beside_eval(const File& folder, const SourceOptions& source) {
  std::vector<Wanted> out{
      {Split::kEval, joined(folder.path(), source.metadata_eval), source.wavs_eval}};
  const std::string whole = whole_metadata(folder);
  if (whole.empty() || whole == source.metadata_eval) return out;
  out.push_back({Split::kTrain, joined(folder.path(), whole), source.wavs_train});
  out.back().gives_way = true;
  return out;
}

std::vector<Wanted> wanted_by_roles(const File& folder, const SourceOptions& source) {
  const auto path_or = [&](const std::string& given, const char* usual) {
    return joined(folder.path(), given.empty() ? usual : given);
  };
  std::vector<Wanted> out;
  if (!source.metadata_train.empty() || exists(folder, "metadata_train.csv"))
    out.push_back(
        {Split::kTrain, path_or(source.metadata_train, "metadata_train.csv"), source.wavs_train});
  else if (!source.metadata_eval.empty())
    return wanted_beside_eval(folder, source);
  if (!source.metadata_eval.empty() || (!out.empty() && exists(folder, "metadata_eval.csv")))
    out.push_back(
        {Split::kEval, path_or(source.metadata_eval, "metadata_eval.csv"), source.wavs_eval});
  return out;
}

std::vector<Wanted> wanted_in_folder(const File& folder, const SourceOptions& source) {
  std::vector<Wanted> out = wanted_by_roles(folder, source);
  if (!out.empty()) return out;
  const auto all_of = [&](const std::string& name) {
    return Wanted{Split::kAll, folder.path() + "/" + name, source.wavs_train};
  };
  if (exists(folder, "wav.scp") && exists(folder, "text")) {
    Wanted kaldi = all_of("text");
    kaldi.kind = LayoutKind::kKaldi;
    kaldi.sound.clear();
    return {kaldi};
  }
  if (const std::string whole = whole_metadata(folder); !whole.empty()) return {all_of(whole)};
  if (const auto parts = find_part_files(folder)) {
    out.push_back({Split::kTrain, folder.path() + "/" + parts->train, source.wavs_train});
    if (!parts->eval.empty())
      out.push_back({Split::kEval, folder.path() + "/" + parts->eval, source.wavs_eval});
    return out;
  }
  if (exists(folder, "validated.tsv")) return {all_of("validated.tsv")};
  if (auto texts = find_text_files(folder)) {
    Wanted wanted{Split::kAll, folder.path()};
    wanted.kind = LayoutKind::kTextFiles;
    wanted.texts = std::move(*texts);
    return {wanted};
  }
  const std::string only = only_table(folder);
  if (!only.empty()) return {all_of(only)};
  return {};
}

// The file `text` or `wav.scp` of a Kaldi folder means the folder.
Wanted wanted_file(const SourceOptions& source, Io& io) {
  const std::string name = last_part(source.path);
  const std::string folder = parent_of(source.path);
  if (name == "text" || name == "wav.scp") {
    const Result<File> opened = open_file(io, folder, OpenFor::kFolder);
    if (opened.ok() && exists(*opened, "text") && exists(*opened, "wav.scp")) {
      Wanted kaldi{Split::kAll, joined(folder, "text")};
      kaldi.kind = LayoutKind::kKaldi;
      return kaldi;
    }
  }
  return {Split::kAll, source.path, source.wavs_train};
}

Error unknown_layout(const SourceOptions& source, const File& opened, Io& io) {
  Error error{.code = &kDataLayout,
              .place = {.file = source.path},
              .promised =
                  "metadata.csv, metadata_train.csv, train.tsv, manifest.jsonl, Kaldi's wav.scp "
                  "and text, or a text file beside each sound",
              .found = "none of them"};
  const Result<FileInfo> info = opened.info();
  if (!info.ok() || info->kind != FileKind::kFolder || !holds_sound(opened)) return error;
  error.found = "sound files without texts";
  error.cure = "write metadata.csv beside them with a line id|text for each file";
  const Result<File> above = open_file(io, joined(opened.path(), ".."), OpenFor::kFolder);
  if (above.ok() && !wanted_in_folder(*above, {}).empty())
    error.cure = "name the folder above, which holds the texts";
  return error;
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
    wanted = {wanted_file(source, io)};
  if (wanted.empty()) return unknown_layout(source, *opened, io);
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
  const bool is_one = wanted.size() == 1 && wanted.front().role == Split::kAll &&
                      wanted.front().kind != LayoutKind::kTextFiles;
  return is_one ? last_part(wanted.front().metadata) : std::string();
}

bool has_part_files(const File& folder) {
  const std::vector<Wanted> wanted = wanted_in_folder(folder, {});
  return !wanted.empty() && wanted.front().role != Split::kAll;
}

}  // namespace stoker::data
