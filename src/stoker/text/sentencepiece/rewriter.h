// The normaliser inside a SentencePiece model: its table of rewrites and its treatment of spaces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/text/sentencepiece/piece_table.h"

namespace stoker::text::sentencepiece {

// A trie as Darts-clone writes it: a double array of 32-bit units.
// Every step stays inside the array, whatever the file held.
class DoubleArray {
 public:
  struct Match {
    std::uint32_t value = 0;
    std::size_t size_bytes = 0;
  };

  DoubleArray() = default;
  explicit DoubleArray(std::vector<std::uint32_t> units) : units_(std::move(units)) {}

  // The longest key that `text` begins with.
  std::optional<Match> longest_prefix(std::string_view text) const noexcept {
    std::optional<Match> found;
    if (units_.empty()) return found;
    std::uint32_t at = offset_of(units_[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      at ^= byte;
      if (at >= units_.size() || (units_[at] & kLabelBits) != byte) return found;
      const std::uint32_t unit = units_[at];
      at ^= offset_of(unit);
      if ((unit & kHasLeaf) == 0) continue;
      if (at >= units_.size()) return found;
      found = Match{units_[at] & kValueBits, i + 1};
    }
    return found;
  }

 private:
  static constexpr std::uint32_t kHasLeaf = 1U << 8U;
  static constexpr std::uint32_t kLabelBits = (1U << 31U) | 0xFFU;
  static constexpr std::uint32_t kValueBits = (1U << 31U) - 1U;

  static std::uint32_t offset_of(std::uint32_t unit) noexcept {
    return (unit >> 10U) << ((unit & (1U << 9U)) >> 6U);
  }

  std::vector<std::uint32_t> units_;
};

// Immutable and thread-safe. `table` must outlive it.
class Rewriter {
 public:
  // E-TEXT-MODEL for a table of rewrites that is none.
  static Result<Rewriter> make(const PieceTable& table, const std::string& file);

  // The text that is cut into pieces, spaces as kSpaceMark where the model asks for it.
  std::string rewritten(std::string_view text) const;

 private:
  struct Part {
    std::string_view text;       // what replaces it
    std::size_t size_bytes = 0;  // of what it replaces
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
