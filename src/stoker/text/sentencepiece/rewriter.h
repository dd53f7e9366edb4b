// The normaliser inside a SentencePiece model: its table of rewrites and its treatment of spaces.
#pragma once

#include <string>
#include <string_view>

#include "stoker/text/sentencepiece/double_array.h"
#include "stoker/text/sentencepiece/piece_table.h"

namespace stoker::text::sentencepiece {

// Immutable and thread-safe. `table` must outlive it.
class Rewriter {
 public:
  // E-TEXT-MODEL for a table of rewrites that is none.
  static Result<Rewriter> make(const PieceTable& table, const std::string& file);

  // The text that is cut into pieces, spaces as kSpaceMark where the model asks for it.
  std::string rewritten(std::string_view text) const;

 private:
  struct Part {
    std::string_view text;       // what stands in its place
    std::size_t size_bytes = 0;  // of the original
  };
  explicit Rewriter(const PieceTable& table) : table_(&table) {}
  Part first_part(std::string_view text) const;
  std::string_view space() const { return table_->model().escapes_spaces ? kSpaceMark : " "; }
  void append(std::string_view part, std::string& out) const;

  const PieceTable* table_;
  DoubleArray rules_;
  std::string replacements_;  // each ends with a zero
};

}  // namespace stoker::text::sentencepiece
