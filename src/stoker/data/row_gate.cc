#include "stoker/data/row_gate.h"

#include <utility>

#include "stoker/data/row_check.h"

namespace stoker::data {

void RowGate::reject(std::string_view id, std::uint64_t line, Error error) {
  error.place.file = rules_.file;
  error.place.line = line;
  sink_.reject(id, line, std::move(error));
}

void RowGate::pass(const Row& row, const At& at) {
  if (auto error = check_id(row.id, at.id_bytes))
    return reject(row.id, row.line, std::move(*error));
  if (!row.file.empty())
    if (auto error = check_path(row.file, at.id_bytes))
      return reject(row.id, row.line, std::move(*error));
  TextCheck text = check_text(row.text, at.text_bytes, rules_.invisible, text_scratch_);
  if (text.error) return reject(row.id, row.line, std::move(*text.error));
  const bool has_raw = row.raw_text.data() != row.text.data();
  if (has_raw)
    if (auto error = check_utf8(row.raw_text, at.raw_bytes))
      return reject(row.id, row.line, std::move(*error));
  if (text.checked.num_dropped > 0) sink_.note("invisible characters dropped");
  Row checked = row;
  checked.text = text.checked.text;
  if (!has_raw) checked.raw_text = checked.text;
  sink_.row(checked);
}

}  // namespace stoker::data
