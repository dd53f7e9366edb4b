#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "stoker/data/errors.h"
#include "stoker/data/rows/column_names.h"
#include "stoker/data/rows/row_readers.h"

namespace stoker::data {
namespace {

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
    auto map = map_columns(header_, gate_.rules().columns, gate_.rules().file);
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
    const std::string_view file = without_root(field(kAudio), gate_.rules());
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
            .promised = fmt::format("{} in seconds", column_meaning(column)),
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
  std::optional<TableReader> table;
  return for_each_row(lines, gate, [&](const Line& line) -> Result<void> {
    if (table) {
      table->read_row(line);
      return {};
    }
    table.emplace(gate, line.text);
    return table->set_header(line.text);
  });
}

}  // namespace stoker::data
