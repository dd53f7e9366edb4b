// One listing of a data set's sound folder, instead of one look-up on disk for each row.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker::data {

struct ListedSound {
  std::string path;  // relative to the root
  FileKind kind = FileKind::kRegular;
  bool ambiguous = false;  // another file fits the same name
};

// Const access is thread-safe.
class SoundListing {
 public:
  // Lists `folder` beneath `root` and its sub-folders; symbolic links to folders are not followed.
  static Result<SoundListing> open(const File& root, const std::string& folder);

  // By path without its suffix, by path, or by file name where that is unique: "a", "x/a",
  // "x/a.wav". A file of another sound suffix is taken where the named one is not there, and "a"
  // also means VCTK's a_mic1. Nothing when no file fits.
  const ListedSound* find(std::string_view id) const;

  // For messages: the other Unicode normal form of `id`, where a file of that name exists.
  // "NFC" or "NFD".
  std::optional<std::string_view> other_form(std::string_view id) const;

  std::size_t size() const noexcept { return sounds_.size(); }

 private:
  const ListedSound* find_name(std::string_view id) const;
  Result<void> add_folder(const File& root, const std::string& folder, int depth);
  void add_file(const std::string& path, FileKind kind, std::size_t listed_at);
  void add_name(std::string_view name, ListedSound* sound);

  std::string listed_;              // the folder listed; paths are also found without it
  std::deque<ListedSound> sounds_;  // never moves, so the keys may point into it
  std::unordered_map<std::string_view, ListedSound*> by_path_;
  std::unordered_map<std::string_view, ListedSound*> by_name_;
};

}  // namespace stoker::data
