#include "stoker/data/sound_listing.h"

#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <utility>

#include "stoker/audio/file/sound_file.h"
#include "stoker/base/io/paths.h"
#include "stoker/data/rows/row_readers.h"

namespace stoker::data {
namespace {

constexpr int kMaxDepth = 16;

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// WAV first, so that a data set kept in two formats reads the one that costs least.
bool is_preferred(std::string_view path) {
  return path.ends_with(".wav") || path.ends_with(".WAV");
}

std::string in_form(std::string_view text, const icu::Normalizer2* form, UErrorCode& status) {
  const auto wide =
      icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
  std::string out;
  form->normalize(wide, status).toUTF8String(out);
  return out;
}

}  // namespace

Result<SoundListing> SoundListing::open(const File& root, const std::string& folder) {
  SoundListing listing;
  listing.listed_ = folder;
  auto added = listing.add_folder(root, folder, 0);
  if (!added.ok()) return added.error();
  return listing;
}

Result<void> SoundListing::add_folder(const File& root, const std::string& folder, int depth) {
  auto opened = open_beneath(root, folder.empty() ? "." : folder, OpenFor::kFolder);
  if (!opened.ok()) return std::move(opened).error();
  const Result<std::vector<FolderEntry>> entries = list_folder(*opened);
  if (!entries) return entries.error();
  const std::size_t listed_at = listed_.empty() ? 0 : listed_.size() + 1;
  for (const FolderEntry& entry : *entries) {
    const std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
    const bool hidden = entry.name.starts_with('.');
    if (entry.kind == FileKind::kFolder && !audio::has_sound_suffix(entry.name)) {
      if (hidden || depth == kMaxDepth) continue;
      if (auto added = add_folder(root, path, depth + 1); !added.ok()) return added;
    } else if (audio::has_sound_suffix(entry.name)) {
      add_file(path, entry.kind, listed_at);
    }
  }
  return {};
}

void SoundListing::add_file(const std::string& path, FileKind kind, std::size_t listed_at) {
  ListedSound& sound = sounds_.emplace_back(ListedSound{.path = path, .kind = kind});
  const std::string_view inside = std::string_view(sound.path).substr(listed_at);
  by_path_.emplace(inside, &sound);
  const std::string_view stem = without_sound_suffix(inside);
  const auto [at, fresh] = by_path_.emplace(stem, &sound);
  if (!fresh) {
    at->second->ambiguous = sound.ambiguous = true;
    if (is_preferred(sound.path)) at->second = &sound;
  }
  if (inside.find('/') == std::string_view::npos) return;
  add_name(file_name(inside), &sound);
  add_name(without_sound_suffix(file_name(inside)), &sound);
}

void SoundListing::add_name(std::string_view name, ListedSound* sound) {
  const auto [at, fresh] = by_name_.emplace(name, sound);
  if (!fresh) at->second->ambiguous = sound->ambiguous = true;
}

const ListedSound* SoundListing::find(std::string_view id) const {
  if (const ListedSound* sound = find_name(id)) return sound;
  // Data sets are often converted without their metadata: "a.mp3" may be a.wav by now.
  const std::string_view stem = without_sound_suffix(id);
  if (stem.size() < id.size()) return find_name(stem);
  // VCTK records each sentence with two microphones.
  return find_name(std::string(id) + "_mic1");
}

const ListedSound* SoundListing::find_name(std::string_view id) const {
  if (const auto at = by_path_.find(id); at != by_path_.end()) return at->second;
  if (!listed_.empty() && id.starts_with(listed_) && id.size() > listed_.size() &&
      id[listed_.size()] == '/')
    if (const auto at = by_path_.find(id.substr(listed_.size() + 1)); at != by_path_.end())
      return at->second;
  const auto at = by_name_.find(id);
  return at == by_name_.end() ? nullptr : at->second;
}

std::optional<std::string_view> SoundListing::other_form(std::string_view id) const {
  UErrorCode status = U_ZERO_ERROR;
  const auto* composed = icu::Normalizer2::getNFCInstance(status);
  const auto* decomposed = icu::Normalizer2::getNFDInstance(status);
  if (U_FAILURE(status)) return std::nullopt;
  for (const auto& [form, name] : {std::pair{composed, "NFC"}, std::pair{decomposed, "NFD"}}) {
    const std::string other = in_form(id, form, status);
    if (U_SUCCESS(status) && other != id && find(other) != nullptr) return name;
  }
  return std::nullopt;
}

}  // namespace stoker::data
