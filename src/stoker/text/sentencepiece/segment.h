// Cuts rewritten text into pieces, as each kind of SentencePiece model does.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/text/sentencepiece/piece_table.h"

namespace stoker::text::sentencepiece {

struct Segment {
  std::string_view text;
  std::int32_t id = 0;  // of the model
};

// The path with the highest sum of scores; an unknown character costs 10 more than the rarest
// piece.
std::vector<Segment> segment_unigram(const PieceTable& table, std::string_view text);

// Neighbours are joined while a join is a piece: the highest score first, the leftmost of equals.
std::vector<Segment> segment_bpe(const PieceTable& table, std::string_view text);

// Words or characters as they stand.
std::vector<Segment> segment_plain(const PieceTable& table, std::string_view text);

}  // namespace stoker::text::sentencepiece
