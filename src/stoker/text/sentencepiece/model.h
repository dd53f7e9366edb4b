// A SentencePiece model as its file holds it.
#pragma once

#include <cstddef>
#include <cstdint>
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
  std::vector<Piece> pieces;  // the place of a piece is its id in the model
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

// Reads the message that a .model file is. `file` stands in the error's place; E-TEXT-MODEL.
Result<Model> parse_model(std::span<const std::byte> bytes, const std::string& file);

}  // namespace stoker::text::sentencepiece
