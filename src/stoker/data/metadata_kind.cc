#include "stoker/data/metadata_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "stoker/audio/file/sound_kind.h"
#include "stoker/base/bytes.h"
#include "stoker/data/errors.h"
#include "stoker/data/rows/column_names.h"

namespace stoker::data {
namespace {

constexpr std::size_t kHeadBytes = 16384;

// Takes the next line that holds something off `text`.
std::string_view take_line(std::string_view& text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos) return line;
  }
  return {};
}

// A header with pipes is a table's only when it names more than id, text and normalised text.
bool is_pipe_header(std::string_view line) {
  const ColumnMap map = map_usual_columns(split_line(line, '|').fields);
  const bool names_more = map[kAudio] || map[kSpeaker] || map[kLanguage];
  return map[kText] && (map[kAudio] || map[kId]) && names_more;
}

bool holds_control_bytes(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
  });
}

// Words for a file that holds no rows; empty for text. Ids may begin like a sound file ("FORM1"),
// so bytes that no text has must be near.
std::string_view foreign_kind(std::span<const std::byte> head) {
  const std::string_view name = audio::sound_kind_name(head);
  if (name.empty()) return "a WAV file";
  const std::string_view start = view_text(head).substr(0, 64);
  const bool is_other_text = start.starts_with('<') || start.starts_with("version https://");
  const bool is_foreign = is_other_text || holds_control_bytes(start);
  return is_foreign && name != audio::kUnknownKind ? name : std::string_view();
}

Error not_metadata(const std::string& path, std::string_view kind,
                   std::span<const std::byte> head) {
  const bool is_sound = kind == "a WAV file" || audio::sound_kind(head) != audio::SoundKind::kOther;
  return {.code = &kDataLayout,
          .place = {.file = path},
          .promised = "a data set: its folder or its metadata file",
          .found = std::string(kind),
          .cure = is_sound ? fmt::format("name the folder that holds the texts as well; "
                                         "`stoker features {}` reads a single sound file",
                                         path)
                           : std::string()};
}

}  // namespace

LayoutKind kind_of_rows(std::string_view name, std::string_view head, bool has_columns) {
  if (name.ends_with(".jsonl") || name.ends_with(".json") || name.ends_with(".ndjson"))
    return LayoutKind::kJson;
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::string_view first = take_line(head);
  const std::string_view second = take_line(head);
  if (first.starts_with('{')) return LayoutKind::kJson;
  if (has_columns || name.ends_with(".tsv")) return LayoutKind::kTable;
  const char separator = separator_of(first);
  if (separator == '|') return is_pipe_header(first) ? LayoutKind::kTable : LayoutKind::kPipes;
  const bool is_table =
      first.find(separator) != std::string_view::npos && second.find('|') == std::string_view::npos;
  return is_table ? LayoutKind::kTable : LayoutKind::kPipes;
}

Result<LayoutKind> metadata_kind(const File& file, const SourceOptions& source) {
  std::vector<std::byte> buffer(kHeadBytes);
  const Result<std::size_t> num_bytes = file.read_at(buffer, 0);
  if (!num_bytes.ok()) return num_bytes.error();
  const auto head = std::span<const std::byte>(buffer).first(*num_bytes);
  if (const std::string_view foreign = foreign_kind(head); !foreign.empty())
    return not_metadata(file.path(), foreign, head);
  return kind_of_rows(file.path(), view_text(head), !source.columns.empty());
}

}  // namespace stoker::data
