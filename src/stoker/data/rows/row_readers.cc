#include "stoker/data/rows/row_readers.h"

#include <fmt/format.h>

#include <utility>

#include "stoker/audio/file/sound_file.h"
#include "stoker/base/number_text.h"
#include "stoker/data/errors.h"
#include "stoker/data/rows/row_check.h"

namespace stoker::data {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

Error lone_return(const Line& line, std::size_t at) {
  return {.code = &kMetaCr,
          .place = {.line = line.number, .byte = line.at_bytes + at},
          .promised = "lines that end in LF or CR LF",
          .found = "a carriage return alone"};
}

}  // namespace

void RowGate::reject(std::string_view id, std::uint64_t line, Error error) {
  error.place.file = rules_.file;
  error.place.line = line;
  sink_.reject(id, line, std::move(error));
}

void RowGate::pass(const Row& row, const At& at) {
  auto error = check_id(row.id, at.id_bytes);
  if (!error && !row.file.empty()) error = check_path(row.file, at.id_bytes);
  if (error) {
    tell_outside(row, *error);
    return reject(row.id, row.line, std::move(*error));
  }
  TextCheck text = check_text(row.text, at.text_bytes, rules_.invisible, text_scratch_);
  if (text.error) return reject(row.id, row.line, std::move(*text.error));
  const bool has_raw = row.raw_text.data() != row.text.data();
  if (has_raw)
    if (auto broken = check_utf8(row.raw_text, at.raw_bytes))
      return reject(row.id, row.line, std::move(*broken));
  if (text.checked.num_dropped > 0) sink_.note("invisible characters dropped");
  Row checked = row;
  checked.text = text.checked.text;
  if (!has_raw) checked.raw_text = checked.text;
  sink_.row(checked);
}

void RowGate::tell_outside(const Row& row, const Error& error) const {
  const std::string_view path = row.file.empty() ? row.id : row.file;
  if (sink_.outside && error.code == &kMetaPath && path.starts_with('/')) sink_.outside(path);
}

namespace {

enum class LineUse { kRow, kSkip };

Result<LineUse> screen_line(const Line& line, RowGate& gate) {
  const std::size_t lone = line.text.find('\r');
  const bool old_mac = lone != std::string_view::npos && line.number == 1 && line.ends_file;
  if (old_mac) {
    Error error = lone_return(line, lone);
    error.place.file = gate.rules().file;
    return error;
  }
  if (line.too_long) {
    gate.reject({}, line.number,
                {.code = &kMetaLine,
                 .place = {.byte = line.at_bytes},
                 .promised = fmt::format("lines of at most {}", bytes_text(kMaxLineBytes)),
                 .found = fmt::format("{} bytes", grouped(line.size_bytes))});
    return LineUse::kSkip;
  }
  if (is_blank(line.text)) {
    gate.note("blank line");
    return LineUse::kSkip;
  }
  if (lone != std::string_view::npos) {
    gate.reject(line.text.substr(0, line.text.find('|')), line.number, lone_return(line, lone));
    return LineUse::kSkip;
  }
  return LineUse::kRow;
}

}  // namespace

Result<void> for_each_row(LineReader& lines, RowGate& gate,
                          const std::function<Result<void>(const Line& line)>& take) {
  Line line;
  for (;;) {
    const Result<bool> more = lines.next(line);
    if (!more.ok()) return more.error();
    if (!*more) return {};
    const Result<LineUse> use = screen_line(line, gate);
    if (!use.ok()) return use.error();
    if (*use == LineUse::kSkip) continue;
    if (Result<void> taken = take(line); !taken.ok()) return taken;
  }
}

std::string_view without_root(std::string_view path, const RowRules& rules) noexcept {
  for (std::string_view root : {std::string_view(rules.root), std::string_view(rules.named_root)}) {
    if (root.ends_with('/')) root.remove_suffix(1);
    const bool is_beneath = path.starts_with('/') && path.starts_with(root) &&
                            path.size() > root.size() && path[root.size()] == '/';
    const bool is_known = !rules.root.empty() && (!root.empty() || rules.root == "/");
    if (!is_beneath || !is_known) continue;
    path.remove_prefix(root.size());
    while (path.starts_with('/')) path.remove_prefix(1);
    break;
  }
  while (path.starts_with("./")) path.remove_prefix(2);
  return path;
}

std::string_view without_sound_suffix(std::string_view path) noexcept {
  return audio::has_sound_suffix(path) ? path.substr(0, path.rfind('.')) : path;
}

}  // namespace stoker::data
