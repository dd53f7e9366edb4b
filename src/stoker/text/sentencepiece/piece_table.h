// A SentencePiece model: what its file holds, its pieces by their text, and text cut into them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/result.h"

namespace stoker::text::sentencepiece {

// The numbers are those of the file.
enum class PieceKind : std::uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};
enum class ModelKind : std::uint8_t { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };

struct Piece {
  std::string text;
  float score = 0.0F;
  PieceKind kind = PieceKind::kNormal;
};

struct Model {
  std::vector<Piece> pieces;  // the index of a piece is its id in the model
  ModelKind kind = ModelKind::kUnigram;
  bool has_byte_fallback = false;
  bool has_space_as_suffix = false;
  std::string rewrites;  // the compiled table of the normaliser; may be empty
  bool adds_dummy_prefix = true;
  bool removes_extra_spaces = true;
  bool escapes_spaces = true;
};

// The mark that SentencePiece writes for a space, U+2581.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

// Reads the message that a .model file is. `file` is the error's place; E-TEXT-MODEL.
Result<Model> parse_model(std::span<const std::byte> bytes, const std::string& file);

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
  // E-TEXT-MODEL when two pieces have one text.
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
    // Sorted texts with one first part are neighbours, so each byte narrows the range.
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

// Rewritten text is cut into pieces as each kind of model does.
struct Segment {
  std::string_view text;
  std::int32_t id = 0;  // of the model
};

// The path with the highest sum of scores; an unknown character costs 10 more than the rarest
// piece.
std::vector<Segment> segment_unigram(const PieceTable& table, std::string_view text);

// Neighbours are joined while a join is a piece: the highest score first, the leftmost of equals.
std::vector<Segment> segment_bpe(const PieceTable& table, std::string_view text);

// Words or characters as they are.
std::vector<Segment> segment_plain(const PieceTable& table, std::string_view text);

}  // namespace stoker::text::sentencepiece
