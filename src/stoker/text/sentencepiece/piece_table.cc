#include "stoker/text/sentencepiece/piece_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "stoker/text/errors.h"

namespace stoker::text::sentencepiece {
namespace {

bool is_searched(PieceKind kind) {
  return kind == PieceKind::kNormal || kind == PieceKind::kUserDefined ||
         kind == PieceKind::kUnused;
}

}  // namespace

Result<PieceTable> PieceTable::make(Model model, const std::string& file) {
  PieceTable table;
  table.model_ = std::move(model);
  table.min_score_ = std::numeric_limits<float>::max();
  bool has_twice = false;
  for (std::size_t i = 0; i < table.model_.pieces.size(); ++i) {
    const Piece& piece = table.model_.pieces[i];
    const auto id = static_cast<std::int32_t>(i);
    if (piece.kind == PieceKind::kNormal)
      table.min_score_ = std::min(table.min_score_, piece.score);
    if (piece.kind == PieceKind::kUnknown) table.unknown_id_ = id;
    if (piece.kind == PieceKind::kUserDefined) table.user_defined_.push_back(piece.text);
    if (is_searched(piece.kind))
      table.sorted_.push_back(id);
    else
      has_twice |= !table.reserved_.emplace(piece.text, id).second;
  }
  const auto text_of = [&table](std::int32_t id) { return std::string_view(table[id].text); };
  std::sort(table.sorted_.begin(), table.sorted_.end(),
            [&](std::int32_t a, std::int32_t b) { return text_of(a) < text_of(b); });
  has_twice |= std::adjacent_find(table.sorted_.begin(), table.sorted_.end(),
                                  [&](std::int32_t a, std::int32_t b) {
                                    return text_of(a) == text_of(b);
                                  }) != table.sorted_.end();
  if (has_twice)
    return Error{.code = &kTextModel,
                 .place = {.file = file},
                 .promised = "pieces that differ",
                 .found = "one text twice",
                 .action = {},
                 .cure = {}};
  for (unsigned byte = 0; byte < 256 && table.model_.has_byte_fallback; ++byte)
    table.byte_ids_.push_back(table.id_of(fmt::format("<0x{:02X}>", byte)));
  return table;
}

std::int32_t PieceTable::find(std::string_view text) const {
  const auto at = std::lower_bound(
      sorted_.begin(), sorted_.end(), text,
      [this](std::int32_t id, std::string_view wanted) { return (*this)[id].text < wanted; });
  return at != sorted_.end() && (*this)[*at].text == text ? *at : -1;
}

std::int32_t PieceTable::id_of(std::string_view text) const {
  const auto reserved = reserved_.find(text);
  if (reserved != reserved_.end()) return reserved->second;
  const std::int32_t id = find(text);
  return id < 0 ? unknown_id_ : id;
}

std::size_t PieceTable::user_defined_bytes(std::string_view text) const {
  std::size_t longest = 0;
  for (const std::string& symbol : user_defined_)
    if (text.starts_with(symbol)) longest = std::max(longest, symbol.size());
  return longest;
}

void PieceTable::narrow(std::size_t byte_index, char byte, std::size_t& low,
                        std::size_t& high) const {
  const auto byte_at = [this, byte_index](std::int32_t id) {
    const std::string& text = (*this)[id].text;
    return byte_index < text.size() ? static_cast<int>(static_cast<unsigned char>(text[byte_index]))
                                    : -1;
  };
  const int wanted = static_cast<unsigned char>(byte);
  const auto first = sorted_.begin() + static_cast<std::ptrdiff_t>(low);
  const auto last = sorted_.begin() + static_cast<std::ptrdiff_t>(high);
  const auto begin =
      std::partition_point(first, last, [&](std::int32_t id) { return byte_at(id) < wanted; });
  const auto end =
      std::partition_point(begin, last, [&](std::int32_t id) { return byte_at(id) == wanted; });
  low = static_cast<std::size_t>(begin - sorted_.begin());
  high = static_cast<std::size_t>(end - sorted_.begin());
}

}  // namespace stoker::text::sentencepiece
