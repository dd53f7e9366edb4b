#include "stoker/cache/list_key.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "stoker/data/layout.h"

namespace stoker::cache {
namespace {

namespace fs = std::filesystem;

std::string file_name(const std::string& path) {
  const fs::path given(path);
  return given.has_filename() ? given.filename().string() : given.parent_path().filename().string();
}

// The folder of the list, and the list's own name where the folder alone would give another.
struct ListPlace {
  std::string folder;
  std::string name;
};

ListPlace place_of(const std::string& path, Io& io) {
  std::error_code ignored;
  const fs::path real = fs::weakly_canonical(path, ignored);
  if (fs::is_directory(real, ignored)) return {real.string(), {}};
  const std::string name = real.filename().string();
  Result<File> folder = open_file(io, real.parent_path().string(), OpenFor::kFolder);
  const bool is_usual = folder.ok() && data::usual_metadata_file(*folder) == name;
  return {real.parent_path().string(), is_usual ? std::string() : name};
}

// Files for train and eval make the parts; otherwise the parts are drawn.
bool has_part_files(const config::DataSettings& data, const std::string& folder) {
  std::error_code ignored;
  return !data.metadata_train_file.empty() || !data.metadata_eval_file.empty() ||
         fs::exists(fs::path(folder) / "metadata_train.csv", ignored);
}

void add_named_files(const config::DataSettings& data, std::vector<std::string>& parts) {
  const auto add = [&](const char* role, const std::string& file, const char* usual) {
    if (!file.empty() && file != usual)
      parts.push_back(fmt::format("{}={}", role, file_name(file)));
  };
  add("train", data.metadata_train_file, "metadata_train.csv");
  add("eval", data.metadata_eval_file, "metadata_eval.csv");
}

void add_part(const config::Settings& settings, bool has_files, std::vector<std::string>& parts) {
  const config::DataSettings& data = settings.data;
  const bool has_train = data.split != config::Split::kEval;
  const bool has_eval = data.split != config::Split::kTrain;
  const bool is_subset = (has_train && data.train_subset_fraction < 1.0) ||
                         (has_eval && data.eval_subset_fraction < 1.0);
  const bool is_drawn = data.split != config::Split::kAll && !has_files;
  if (data.split != config::Split::kAll)
    parts.push_back(fmt::format("split={}", has_train ? "train" : "eval"));
  if (is_drawn)
    parts.push_back(
        fmt::format("of {}:{} seed {}", data.train_split, data.val_split, settings.run.seed));
  if (is_subset)
    parts.push_back(fmt::format("subset={}:{} seed {}:{}", data.train_subset_fraction,
                                data.eval_subset_fraction, data.subset_seed, settings.run.seed));
}

}  // namespace

std::string list_key(const config::Settings& settings, Io& io) {
  const config::DataSettings& data = settings.data;
  std::vector<std::string> parts;
  bool has_files = false;
  if (data.sources.empty()) {
    const ListPlace place = place_of(data.path, io);
    has_files = place.name.empty() && has_part_files(data, place.folder);
    if (!place.name.empty()) parts.push_back(place.name);
  }
  for (const config::MixedSource& source : data.sources) {
    const ListPlace place = place_of(source.data, io);
    parts.push_back(fmt::format(
        "mix {}/{}", source.name.empty() ? file_name(place.folder) : source.name, place.name));
  }
  if (data.sources.empty()) add_named_files(data, parts);
  add_part(settings, has_files, parts);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace stoker::cache
