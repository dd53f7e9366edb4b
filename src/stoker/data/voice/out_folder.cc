#include <vector>

#include "stoker/base/io/paths.h"
#include "stoker/data/data_set_record.h"
#include "stoker/data/errors.h"
#include "stoker/data/voice/data_set_maker.h"

namespace stoker::data::voice {
namespace {

constexpr std::string_view kCacheName = ".stoker";  // caches built from the data; they notice

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool all_digits(std::string_view text) {
  for (const char c : text) {
    if (!is_digit(c)) return false;
  }
  return !text.empty();
}

// spkNN_NNNNN.wav
bool is_our_wav(std::string_view name) {
  if (!name.starts_with("spk") || !name.ends_with(".wav")) return false;
  name.remove_prefix(3);
  name.remove_suffix(4);
  const std::size_t bar = name.find('_');
  return bar != std::string_view::npos && all_digits(name.substr(0, bar)) &&
         all_digits(name.substr(bar + 1));
}

bool is_our_table(std::string_view name) {
  return name == kMetadataName || name == kPhonemesName || name == kAlignmentsName ||
         name == kRecordName;
}

Error foreign_entry(const File& folder, const std::string& name, std::string promised) {
  return {.code = &kMakeFolder,
          .place = {.file = folder.path()},
          .promised = std::move(promised),
          .found = name};
}

Result<void> remove_file(const File& folder, const std::string& name) {
  const SysResult removed = folder.io().unlink_at(folder.handle(), name, false);
  if (!removed.ok()) return io_error("remove", folder.path() + "/" + name, removed.error_number);
  return {};
}

Result<void> expect_empty(const File& folder) {
  auto entries = list_folder(folder);
  if (!entries) return entries.error();
  if (entries->empty()) return {};
  return foreign_entry(folder, entries->front().name, "an empty folder");
}

// Looks at every entry before removing the first.
template <class IsOurs>
Result<std::vector<std::string>> removable(const File& folder, const IsOurs& is_ours) {
  auto entries = list_folder(folder);
  if (!entries) return entries.error();
  std::vector<std::string> names;
  for (const FolderEntry& entry : *entries) {
    if (entry.name == kWavsName || entry.name == kCacheName) continue;
    if (entry.kind != FileKind::kRegular || !is_ours(entry.name)) {
      return foreign_entry(folder, entry.name, "only files that `data make` wrote");
    }
    names.push_back(entry.name);
  }
  return names;
}

Result<void> clear_our_files(const OutFolder& folder) {
  auto tables = removable(folder.root, is_our_table);
  if (!tables) return tables.error();
  auto wavs = removable(folder.wavs, is_our_wav);
  if (!wavs) return wavs.error();
  for (const auto& name : *tables) {
    if (auto removed = remove_file(folder.root, name); !removed) return removed;
  }
  for (const auto& name : *wavs) {
    if (auto removed = remove_file(folder.wavs, name); !removed) return removed;
  }
  return {};
}

}  // namespace

Result<OutFolder> prepare_out_folder(Io& io, const std::string& path, ExistingData existing) {
  if (auto made = make_folders(io, path); !made) return made.error();
  auto root = open_file(io, path, OpenFor::kFolder);
  if (!root) return root.error();
  if (existing == ExistingData::kRefuse) {
    if (auto empty = expect_empty(*root); !empty) return empty.error();
  }
  const std::string wavs_path = path + "/" + std::string(kWavsName);
  if (auto made = make_folders(io, wavs_path); !made) return made.error();
  auto wavs = open_file(io, wavs_path, OpenFor::kFolder);
  if (!wavs) return wavs.error();
  OutFolder folder{std::move(*root), std::move(*wavs)};
  if (existing == ExistingData::kReplace) {
    if (auto cleared = clear_our_files(folder); !cleared) return cleared.error();
  }
  return folder;
}

}  // namespace stoker::data::voice
