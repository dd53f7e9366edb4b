#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "stoker/data/errors.h"
#include "stoker/data/row_readers.h"

namespace stoker::data {
namespace {

// What a column can mean, and the names it often has when no map is given.
struct Meaning {
  std::string_view name;
  std::array<std::string_view, 5> usual;
};
enum Column : std::size_t { kId, kAudio, kText, kRaw, kSpeaker, kLanguage, kOffset, kDuration };
constexpr std::array<Meaning, 8> kMeanings{{
    {"id", {"id", "utt_id", "utterance_id", "", ""}},
    {"audio", {"audio", "path", "file", "audio_filepath", "file_name"}},
    {"text", {"text", "sentence", "transcript", "transcription", "normalized_text"}},
    {"raw", {"raw_text", "original_text", "", "", ""}},
    {"speaker", {"speaker", "client_id", "speaker_id", "speaker_name", ""}},
    {"language", {"language", "locale", "lang", "", ""}},
    {"offset", {"offset", "start", "", "", ""}},
    {"duration", {"duration", "", "", "", ""}},
}};

using ColumnMap = std::array<std::optional<std::size_t>, kMeanings.size()>;

struct SplitLine {
  std::vector<std::string> fields;
  bool open_quote = false;
};

// Commas may be inside "…", where "" is a quote; tabs and pipes know no quoting. A quote never
// runs over the end of its line, so rows in are rows out.
SplitLine split_line(std::string_view line, char separator) {
  SplitLine out;
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (separator == ',' && c == '"' && (quoted || field.empty())) {
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

char separator_of(std::string_view header) {
  for (const char c : {'\t', '|'})
    if (header.find(c) != std::string_view::npos) return c;
  return ',';
}

Error wrong_columns(const RowRules& rules, std::string promised, std::string found) {
  return {.code = &kDataColumns,
          .place = {.file = rules.file, .line = 1},
          .promised = std::move(promised),
          .found = std::move(found)};
}

std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + escape_control(name);
  return out;
}

std::optional<std::size_t> find_column(const std::vector<std::string>& header,
                                       std::string_view name) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

// "audio=path,text=sentence" against the header.
Result<ColumnMap> map_by_request(const std::vector<std::string>& header, const RowRules& rules) {
  ColumnMap map;
  for (const std::string& pair : split_line(rules.columns, ',').fields) {
    const std::size_t equals = pair.find('=');
    const std::string_view meaning = std::string_view(pair).substr(0, equals);
    const auto known = std::find_if(kMeanings.begin(), kMeanings.end(),
                                    [&](const Meaning& m) { return m.name == meaning; });
    if (equals == std::string::npos || known == kMeanings.end())
      return wrong_columns(rules,
                           "MEANING=COLUMN with id, audio, text, raw, speaker, language, "
                           "offset or duration as the meaning",
                           fmt::format("\"{}\"", escape_control(pair)));
    const std::string name = pair.substr(equals + 1);
    const auto column = find_column(header, name);
    if (!column)
      return wrong_columns(rules, fmt::format("a column \"{}\"", escape_control(name)),
                           list_of(header) + " in the header");
    map[static_cast<std::size_t>(known - kMeanings.begin())] = column;
  }
  return map;
}

ColumnMap map_by_usual_names(const std::vector<std::string>& header) {
  ColumnMap map;
  for (std::size_t m = 0; m < kMeanings.size(); ++m)
    for (const std::string_view name : kMeanings[m].usual)
      if (!map[m] && !name.empty()) map[m] = find_column(header, name);
  return map;
}

Result<ColumnMap> map_columns(const std::vector<std::string>& header, const RowRules& rules) {
  ColumnMap map;
  if (rules.columns.empty()) {
    map = map_by_usual_names(header);
  } else {
    auto asked = map_by_request(header, rules);
    if (!asked.ok()) return std::move(asked).error();
    map = *asked;
  }
  if (!map[kText] || (!map[kAudio] && !map[kId]))
    return wrong_columns(rules, "columns for text and for audio or id",
                         list_of(header) + " in the header");
  return map;
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class TableReader {
 public:
  TableReader(RowGate& gate, std::string_view header_line)
      : gate_(gate), separator_(separator_of(header_line)) {}

  Result<void> set_header(std::string_view line) {
    header_ = split_line(line, separator_).fields;
    auto map = map_columns(header_, gate_.rules());
    if (!map.ok()) return std::move(map).error();
    map_ = *map;
    return {};
  }

  void read_row(const Line& line) {
    const SplitLine split = split_line(line.text, separator_);
    if (split.open_quote || split.fields.size() != header_.size())
      return gate_.reject({}, line.number, misfit(line, split));
    const auto field = [&](Column column) {
      return map_[column] ? std::string_view(split.fields[*map_[column]]) : std::string_view();
    };
    for (const Column column : {kOffset, kDuration})
      if (!field(column).empty() && !(number_of(field(column)).value_or(-1.0) >= 0.0))
        return gate_.reject({}, line.number, bad_number(line, column, field(column)));
    const std::string_view file = without_root(field(kAudio), gate_.rules().root);
    Row row{.id = map_[kId] ? field(kId) : without_sound_suffix(file),
            .text = field(kText),
            .raw_text = map_[kRaw] ? field(kRaw) : field(kText),
            .file = file,
            .speaker = field(kSpeaker),
            .language = field(kLanguage),
            .offset_s = number_of(field(kOffset)),
            .duration_s = number_of(field(kDuration)),
            .line = line.number,
            .at_bytes = line.at_bytes};
    gate_.pass(row, {line.at_bytes, line.at_bytes, line.at_bytes});
  }

 private:
  Error misfit(const Line& line, const SplitLine& split) const {
    if (split.open_quote)
      return {.code = &kMetaQuote,
              .place = {.byte = line.at_bytes},
              .promised = "quotes that close on their line",
              .found = "an open quote"};
    return {.code = &kMetaFields,
            .place = {.byte = line.at_bytes},
            .promised = fmt::format("{} fields as in the header", header_.size()),
            .found = fmt::format("{}", split.fields.size()),
            .cure = "make the row as wide as the header"};
  }

  static Error bad_number(const Line& line, Column column, std::string_view value) {
    return {.code = &kMetaSegment,
            .place = {.byte = line.at_bytes},
            .promised = fmt::format("{} in seconds", kMeanings[column].name),
            .found = fmt::format("\"{}\"", escape_control(value.substr(0, 40)))};
  }

  RowGate& gate_;
  char separator_;
  std::vector<std::string> header_;
  ColumnMap map_;
};

}  // namespace

Result<void> read_table_rows(LineReader& lines, const RowRules& rules, const RowSink& sink) {
  RowGate gate(rules, sink);
  Line line;
  std::optional<TableReader> table;
  for (;;) {
    auto more = lines.next(line);
    if (!more.ok()) return more.error();
    if (!*more) return {};
    auto use = screen_line(line, gate);
    if (!use.ok()) return use.error();
    if (*use == LineUse::kSkip) continue;
    if (table) {
      table->read_row(line);
      continue;
    }
    table.emplace(gate, line.text);
    if (auto header = table->set_header(line.text); !header.ok()) return header;
  }
}

}  // namespace stoker::data
