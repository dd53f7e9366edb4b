// What the columns of a table and the keys of a manifest mean, and the names they often have.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/result.h"

namespace stoker::data {

enum Column : std::size_t { kId, kAudio, kText, kRaw, kSpeaker, kLanguage, kOffset, kDuration };
inline constexpr std::size_t kNumColumns = 8;

// "audio": how --columns names the meaning.
std::string_view column_meaning(Column column) noexcept;

// Names that are understood without a map, the most usual first.
std::span<const std::string_view> usual_column_names(Column column) noexcept;

// The name that a map gives each meaning; empty where it names none.
using ColumnNames = std::array<std::string, kNumColumns>;

// "audio=path,text=sentence". E-DATA-COLUMNS, with `file` as its place, for anything else.
Result<ColumnNames> parse_columns(const std::string& columns, const std::string& file);

// Where each meaning is in a header.
using ColumnMap = std::array<std::optional<std::size_t>, kNumColumns>;

// By usual names alone, whatever their case.
ColumnMap map_usual_columns(const std::vector<std::string>& header);

// By `columns`; audio and text that it leaves out are found by their usual names, and everything is
// when it is empty. E-DATA-COLUMNS names the header where that is not enough to read rows.
Result<ColumnMap> map_columns(const std::vector<std::string>& header, const std::string& columns,
                              const std::string& file);

// A tab, a pipe, a comma or a semicolon: the first of them that the header has.
char separator_of(std::string_view header) noexcept;

struct SplitLine {
  std::vector<std::string> fields;
  bool open_quote = false;
};

// In tables with commas or semicolons a separator may be inside "…", where "" is a quote; tabs and
// pipes know no quoting. A quote never runs over the end of its line, so rows in are rows out.
SplitLine split_line(std::string_view line, char separator);

}  // namespace stoker::data
