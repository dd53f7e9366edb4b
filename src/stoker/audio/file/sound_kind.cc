#include "stoker/audio/file/sound_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "stoker/base/bytes.h"

namespace stoker::audio {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  std::size_t at;
  SoundKind kind;
  std::string_view name;
};

constexpr std::array<Magic, 20> kMagics{{
    {"RIFX"sv, 0, SoundKind::kOther, "RIFX (big-endian WAV)"},
    {"RF64"sv, 0, SoundKind::kOther, "RF64 (64-bit WAV)"},
    {"BW64"sv, 0, SoundKind::kOther, "BW64 (64-bit WAV)"},
    {"riff\x2E\x91\xCF\x11"sv, 0, SoundKind::kOther, "W64 (Sony Wave64)"},
    {"FORM"sv, 0, SoundKind::kOther, "an AIFF file"},
    {"fLaC"sv, 0, SoundKind::kFlac, "a FLAC file"},
    {"OggS"sv, 0, SoundKind::kOgg, "an Ogg file (Vorbis or Opus)"},
    {"ID3"sv, 0, SoundKind::kMp3, "an MP3 file"},
    {"\xFF\xFB"sv, 0, SoundKind::kMp3, "an MP3 file"},
    {"\xFF\xF3"sv, 0, SoundKind::kMp3, "an MP3 file"},
    {"\xFF\xF2"sv, 0, SoundKind::kMp3, "an MP3 file"},
    {"\xFF\xFA"sv, 0, SoundKind::kMp3, "an MP3 file"},
    {".snd"sv, 0, SoundKind::kOther, "a Sun AU file"},
    {"ftyp"sv, 4, SoundKind::kOther, "an MP4 or M4A file"},
    {"\x1A\x45\xDF\xA3"sv, 0, SoundKind::kOther, "a Matroska or WebM file"},
    {"caff"sv, 0, SoundKind::kOther, "a Core Audio file"},
    {"NIST_1A"sv, 0, SoundKind::kOther, "a NIST SPHERE file"},
    {"PK\x03\x04"sv, 0, SoundKind::kOther, "a ZIP archive"},
    {"\x1F\x8B"sv, 0, SoundKind::kOther, "a gzip archive"},
    {"version https://git-lfs"sv, 0, SoundKind::kOther, "a Git LFS pointer, not the file itself"},
}};

bool starts_like_html(std::string_view text) {
  const auto start = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (start == std::string_view::npos) return false;
  std::string word(text.substr(start, 14));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word.starts_with("<!doctype html") || word.starts_with("<html") ||
         word.starts_with("<head");
}

const Magic* find_magic(std::string_view text) {
  const auto found = std::find_if(kMagics.begin(), kMagics.end(), [&](const Magic& magic) {
    return text.size() >= magic.at && text.substr(magic.at).starts_with(magic.bytes);
  });
  return found == kMagics.end() ? nullptr : &*found;
}

bool is_wav(std::string_view text) {
  return text.starts_with("RIFF") && text.size() >= 12 && text.substr(8, 4) == "WAVE";
}

}  // namespace

SoundKind sound_kind(std::span<const std::byte> head) noexcept {
  const std::string_view text = view_text(head);
  if (is_wav(text)) return SoundKind::kWav;
  const Magic* magic = find_magic(text);
  return magic == nullptr ? SoundKind::kOther : magic->kind;
}

std::string_view sound_kind_name(std::span<const std::byte> head) noexcept {
  const std::string_view text = view_text(head);
  if (is_wav(text)) return {};
  if (const Magic* magic = find_magic(text)) return magic->name;
  if (starts_like_html(text)) return "an HTML page";
  if (text.starts_with("{") || text.starts_with("<?xml")) return "a JSON or XML text";
  if (text.starts_with("RIFF") && text.size() >= 12) return "a RIFF file of another kind than WAVE";
  return kUnknownKind;
}

}  // namespace stoker::audio
