#include "stoker/data/rows/column_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/audio/file/sound_file.h"
#include "stoker/data/errors.h"

namespace stoker::data {
namespace {

using namespace std::string_view_literals;

constexpr std::array kIdNames{"id"sv, "utt_id"sv, "utterance_id"sv};
constexpr std::array kAudioNames{"audio_filepath"sv, "audio"sv,    "path"sv,       "file"sv,
                                 "file_name"sv,      "filename"sv, "audio_path"sv, "audio_file"sv,
                                 "wav_filename"sv,   "wav_path"sv, "wav"sv,        "filepath"sv};
constexpr std::array kTextNames{"text"sv, "sentence"sv, "transcript"sv, "transcription"sv,
                                "normalized_text"sv};
constexpr std::array kRawNames{"raw_text"sv, "original_text"sv};
constexpr std::array kSpeakerNames{"speaker"sv, "client_id"sv, "speaker_id"sv, "speaker_name"sv};
constexpr std::array kLanguageNames{"language"sv, "locale"sv, "lang"sv};
constexpr std::array kOffsetNames{"offset"sv, "start"sv};
constexpr std::array kDurationNames{"duration"sv};

struct Meaning {
  std::string_view name;
  std::span<const std::string_view> usual;
};
constexpr std::array<Meaning, kNumColumns> kMeanings{{{"id", kIdNames},
                                                      {"audio", kAudioNames},
                                                      {"text", kTextNames},
                                                      {"raw", kRawNames},
                                                      {"speaker", kSpeakerNames},
                                                      {"language", kLanguageNames},
                                                      {"offset", kOffsetNames},
                                                      {"duration", kDurationNames}}};

Error wrong_columns(const std::string& file, std::string promised, std::string found) {
  return {.code = &kDataColumns,
          .place = {.file = file, .line = 1},
          .promised = std::move(promised),
          .found = std::move(found)};
}

std::string header_text(const std::vector<std::string>& header) {
  std::string out;
  for (const std::string& name : header) out += (out.empty() ? "" : ", ") + escape_control(name);
  return out.substr(0, 400) + " in the header";
}

bool same_name(std::string_view given, std::string_view usual) {
  return std::equal(given.begin(), given.end(), usual.begin(), usual.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

std::optional<std::size_t> find_usual(const std::vector<std::string>& header, Column column) {
  for (const std::string_view name : kMeanings[column].usual) {
    const auto found = std::find_if(header.begin(), header.end(), [&](const std::string& given) {
      return same_name(given, name);
    });
    if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  }
  return std::nullopt;
}

// A first line that holds a row: its file would otherwise be asked for columns it never named.
bool looks_like_a_row(const std::vector<std::string>& header) {
  return std::any_of(header.begin(), header.end(),
                     [](const std::string& field) { return audio::has_sound_suffix(field); });
}

}  // namespace

std::string_view column_meaning(Column column) noexcept { return kMeanings[column].name; }

std::span<const std::string_view> usual_column_names(Column column) noexcept {
  return kMeanings[column].usual;
}

Result<ColumnNames> parse_columns(const std::string& columns, const std::string& file) {
  ColumnNames names;
  if (columns.empty()) return names;
  for (const std::string& pair : split_line(columns, ',').fields) {
    const std::size_t equals = pair.find('=');
    const std::string_view meaning = std::string_view(pair).substr(0, equals);
    const auto known = std::find_if(kMeanings.begin(), kMeanings.end(),
                                    [&](const Meaning& m) { return m.name == meaning; });
    if (equals == std::string::npos || known == kMeanings.end())
      return wrong_columns(file,
                           "MEANING=COLUMN with id, audio, text, raw, speaker, language, "
                           "offset or duration as the meaning",
                           fmt::format("\"{}\"", escape_control(pair)));
    names[static_cast<std::size_t>(known - kMeanings.begin())] = pair.substr(equals + 1);
  }
  return names;
}

ColumnMap map_usual_columns(const std::vector<std::string>& header) {
  ColumnMap map;
  for (std::size_t m = 0; m < kNumColumns; ++m) map[m] = find_usual(header, static_cast<Column>(m));
  return map;
}

Result<ColumnMap> map_columns(const std::vector<std::string>& header, const std::string& columns,
                              const std::string& file) {
  ColumnMap map = map_usual_columns(header);
  if (!columns.empty()) {
    const Result<ColumnNames> names = parse_columns(columns, file);
    if (!names.ok()) return names.error();
    for (std::size_t m = 0; m < kNumColumns; ++m) {
      const std::string& name = (*names)[m];
      const bool is_needed = m == kAudio || m == kText;
      if (name.empty() && is_needed) continue;
      map[m].reset();
      if (name.empty()) continue;
      const auto found = std::find(header.begin(), header.end(), name);
      if (found == header.end())
        return wrong_columns(file, fmt::format("a column \"{}\"", escape_control(name)),
                             header_text(header));
      map[m] = static_cast<std::size_t>(found - header.begin());
    }
  }
  if (map[kText] && (map[kAudio] || map[kId])) return map;
  Error error = wrong_columns(file, "columns for text and for audio or id", header_text(header));
  if (looks_like_a_row(header))
    error.cure = "add a first line that names the columns, such as audio,text";
  return error;
}

char separator_of(std::string_view header) noexcept {
  for (const char c : {'\t', '|', ',', ';'})
    if (header.find(c) != std::string_view::npos) return c;
  return ',';
}

SplitLine split_line(std::string_view line, char separator) {
  SplitLine out;
  std::string field;
  bool quoted = false;
  const bool knows_quotes = separator == ',' || separator == ';';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (knows_quotes && c == '"' && (quoted || field.empty())) {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        field += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == separator && !quoted) {
      out.fields.push_back(std::move(field));
      field.clear();
    } else {
      field += c;
    }
  }
  out.fields.push_back(std::move(field));
  out.open_quote = quoted;
  return out;
}

}  // namespace stoker::data
