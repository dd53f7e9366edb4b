#include "stoker/cache/maintain/import.h"

#include <fmt/format.h>

#include <utility>

#include "stoker/base/simd_level.h"
#include "stoker/cache/build/cache_target.h"
#include "stoker/cache/errors.h"

namespace stoker::cache {
namespace {

Error shape_error(const std::string& file, std::string promised, const ArrayShape& found) {
  Error error;
  error.code = &kImportShape;
  error.place.file = file;
  error.promised = std::move(promised);
  error.found = found.text();
  return error;
}

struct FolderRole {
  RecordKind kind = RecordKind::kArray;
  std::string array;
  Digest128 settings;
  ArrayRule rule;
};

void add_folder(Io& io, const std::string& path, FolderRole role, ImportPlan& plan) {
  File folder = open_file(io, path, OpenFor::kFolder).take_or_raise();
  NpyFolder files = list_npy_folder(folder).take_or_raise();
  plan.num_files += files.rows.size();
  plan.num_leftovers += files.num_leftovers;
  plan.num_other += files.num_other;
  plan.makers.push_back(std::make_unique<ArrayMaker>(
      std::move(folder), std::move(files.rows),
      ArrayMaker::Options{role.kind, std::move(role.array), role.settings, std::move(role.rule)}));
}

// cached_features/ holds both kinds under one name each; the header tells which.
void add_mixed(Io& io, const std::string& path, const FolderRole& tokens, const FolderRole& mels,
               ImportPlan& plan) {
  File folder = open_file(io, path, OpenFor::kFolder).take_or_raise();
  NpyFolder files = list_npy_folder(folder).take_or_raise();
  plan.num_files += files.rows.size();
  plan.num_leftovers += files.num_leftovers;
  plan.num_other += files.num_other;
  std::vector<NpyFolder::Row> token_rows;
  std::vector<NpyFolder::Row> mel_rows;
  for (NpyFolder::Row& row : files.rows) {
    Result<File> file = open_beneath(folder, row.file, OpenFor::kRead);
    Result<std::vector<std::byte>> bytes = Error{};
    if (file) bytes = read_whole(*file, std::uint64_t{1} << 30U);
    Result<NpyHeader> header = Error{};
    if (file && bytes) header = decode_npy_header(file->path(), *bytes);
    const bool is_tokens = header.ok() && !is_float(header->shape.element);
    (is_tokens ? token_rows : mel_rows).push_back(std::move(row));
  }
  const auto add = [&](std::vector<NpyFolder::Row> rows, const FolderRole& role) {
    if (rows.empty()) return;
    plan.makers.push_back(std::make_unique<ArrayMaker>(
        open_file(io, path, OpenFor::kFolder).take_or_raise(), std::move(rows),
        ArrayMaker::Options{role.kind, role.array, role.settings, role.rule}));
  };
  add(std::move(token_rows), tokens);
  add(std::move(mel_rows), mels);
}

}  // namespace

Result<NpyArray> accept_tokens(const std::string& file, const NpyArray& array) {
  if (array.shape.rank != 1 || is_float(array.shape.element))
    return shape_error(file, "integers [tokens]", array.shape);
  return convert_npy(file, array, ElementType::kI32);
}

ArrayRule accept_mels(std::int64_t num_mels, ElementType element) {
  return [num_mels, element](const std::string& file, NpyArray array) -> Result<NpyArray> {
    const bool fits = array.shape.rank == 2 && is_float(array.shape.element) &&
                      array.shape.axes[1] == num_mels && array.shape.axes[0] > 0;
    if (!fits) return shape_error(file, fmt::format("floats [frames, {}]", num_mels), array.shape);
    return convert_npy(file, array, element);
  };
}

ImportPlan plan_import(Io& io, const ImportRequest& request) {
  ImportPlan plan;
  LegacyFolders folders;
  if (!request.folder.empty()) folders = find_legacy_folders(io, request.folder).take_or_raise();
  plan.settings = legacy_settings(folders);
  plan.target.head = wanted_head(plan.settings, SimdLevel::kScalar);
  plan.target.head.path = "imported/f16";
  const FolderRole tokens{RecordKind::kTokens, "", plan.target.head.text, accept_tokens};
  const FolderRole mels{RecordKind::kMel, "", plan.target.head.features,
                        accept_mels(folders.mels.num_mels, ElementType::kF16)};
  if (!folders.tokens_path.empty()) add_folder(io, folders.tokens_path, tokens, plan);
  if (!folders.mels_path.empty()) add_folder(io, folders.mels_path, mels, plan);
  if (!folders.mixed_path.empty()) add_mixed(io, folders.mixed_path, tokens, mels, plan);
  for (const auto& [name, path] : request.arrays)
    add_folder(io, path, {RecordKind::kArray, name, digest_of("array " + name), accept_finite},
               plan);
  for (const auto& maker : plan.makers) plan.target.makers.push_back(maker.get());
  return plan;
}

}  // namespace stoker::cache
