#include <algorithm>
#include <limits>

#include "stoker/text/sentencepiece/piece_table.h"

namespace stoker::text::sentencepiece {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
constexpr float kUnknownPenalty = 10.0F;

// The best path that ends at a byte: its last piece.
struct PathEnd {
  float score = 0.0F;
  std::size_t begin = kNowhere;
  std::int32_t id = 0;
};

// A user-defined piece outweighs every other way; the sum is made in double and kept in float, so
// that equal sums are told apart as the library does.
double score_of(const PieceTable& table, std::int32_t id, std::size_t size_bytes) {
  const Piece& piece = table[id];
  if (piece.kind != PieceKind::kUserDefined) return static_cast<double>(piece.score);
  const float most = std::numeric_limits<float>::min();
  return static_cast<double>(static_cast<float>(size_bytes) * most) - 0.1;
}

void offer(PathEnd& end, double score, std::size_t begin, std::int32_t id) {
  if (end.begin != kNowhere && score <= static_cast<double>(end.score)) return;
  end = {static_cast<float>(score), begin, id};
}

}  // namespace

std::vector<Segment> segment_unigram(const PieceTable& table, std::string_view text) {
  std::vector<PathEnd> ends(text.size() + 1);
  const float unknown_score = table.min_score() - kUnknownPenalty;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const std::size_t one_bytes = char_bytes(rest);
    const float before = ends[at].score;
    bool is_known = false;
    table.for_each_prefix(rest, [&](std::int32_t id, std::size_t size_bytes) {
      if (table[id].kind == PieceKind::kUnused) return;
      const double score = score_of(table, id, size_bytes) + static_cast<double>(before);
      offer(ends[at + size_bytes], score, at, id);
      is_known |= size_bytes == one_bytes;
    });
    if (!is_known) {
      const float score = unknown_score + before;
      offer(ends[at + one_bytes], static_cast<double>(score), at, table.unknown_id());
    }
    at += one_bytes;
  }
  std::vector<Segment> segments;
  for (std::size_t end = text.size(); end > 0; end = ends[end].begin)
    segments.push_back({text.substr(ends[end].begin, end - ends[end].begin), ends[end].id});
  std::reverse(segments.begin(), segments.end());
  return segments;
}

std::vector<Segment> segment_plain(const PieceTable& table, std::string_view text) {
  std::vector<Segment> segments;
  const bool has_words = table.model().kind == ModelKind::kWord;
  while (!text.empty()) {
    const std::size_t own_bytes = has_words ? 0 : table.user_defined_bytes(text);
    const std::string_view one = text.substr(0, own_bytes > 0 ? own_bytes : char_bytes(text));
    if (!has_words || segments.empty() || one == kSpaceMark)
      segments.push_back({one, 0});
    else
      segments.back().text = {segments.back().text.data(),
                              segments.back().text.size() + one.size()};
    text.remove_prefix(one.size());
  }
  for (Segment& segment : segments) segment.id = table.id_of(segment.text);
  return segments;
}

}  // namespace stoker::text::sentencepiece
