// Pieces of a model by their text, and by the texts that begin at a place.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/text/sentencepiece/model.h"

namespace stoker::text::sentencepiece {

// Bytes of the character that begins with this one, by its first byte alone.
inline std::size_t char_bytes(std::string_view text) noexcept {
  constexpr std::array<std::uint8_t, 16> kBytes{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t count = kBytes[first >> 4U];
  return count < text.size() ? count : text.size();
}

// Immutable and thread-safe. Ids are the model's.
class PieceTable {
 public:
  // E-TEXT-MODEL when a text stands twice.
  static Result<PieceTable> make(Model model, const std::string& file);

  const Model& model() const noexcept { return model_; }
  const Piece& operator[](std::int32_t id) const {
    return model_.pieces[static_cast<std::size_t>(id)];
  }
  std::int32_t unknown_id() const noexcept { return unknown_id_; }
  // Lowest score of a normal piece.
  float min_score() const noexcept { return min_score_; }

  // A normal, user-defined or unused piece; -1 where there is none.
  std::int32_t find(std::string_view text) const;
  // The same, and control, unknown and byte pieces too; the unknown id where there is none.
  std::int32_t id_of(std::string_view text) const;
  std::int32_t byte_id(unsigned char byte) const { return byte_ids_[byte]; }

  // Bytes of the longest user-defined piece that `text` begins with; 0 where there is none.
  std::size_t user_defined_bytes(std::string_view text) const;

  // Calls visit(id, size_bytes) for every piece that `text` begins with, the shortest first.
  template <class Visit>
  void for_each_prefix(std::string_view text, Visit visit) const {
    // Sorted texts with one first part lie together, so each byte narrows the range.
    std::size_t low = 0;
    std::size_t high = sorted_.size();
    for (std::size_t i = 0; i < text.size() && low < high; ++i) {
      narrow(i, text[i], low, high);
      if (low < high && text_at(low).size() == i + 1) visit(sorted_[low], i + 1);
    }
  }

 private:
  std::string_view text_at(std::size_t place) const { return (*this)[sorted_[place]].text; }
  void narrow(std::size_t byte_index, char byte, std::size_t& low, std::size_t& high) const;

  Model model_;
  std::vector<std::int32_t> sorted_;  // normal, user-defined and unused pieces by their text
  std::map<std::string, std::int32_t, std::less<>> reserved_;
  std::vector<std::string> user_defined_;
  std::vector<std::int32_t> byte_ids_;
  std::int32_t unknown_id_ = -1;
  float min_score_ = 0.0F;
};

}  // namespace stoker::text::sentencepiece
