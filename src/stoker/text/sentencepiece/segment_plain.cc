#include "stoker/text/sentencepiece/segment.h"

namespace stoker::text::sentencepiece {

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
