#include <map>
#include <queue>
#include <string>
#include <utility>

#include "stoker/text/sentencepiece/piece_table.h"

namespace stoker::text::sentencepiece {
namespace {

constexpr int kNone = -1;

struct Symbol {
  std::string_view text;
  int previous = kNone;
  int next = kNone;
  bool is_frozen = false;  // a user-defined piece: never joined
};

struct Join {
  int left = 0;
  int right = 0;
  float score = 0.0F;
  std::size_t size_bytes = 0;

  bool operator<(const Join& other) const {
    return score < other.score || (score == other.score && left > other.left);
  }
};

class Joiner {
 public:
  Joiner(const PieceTable& table, std::string_view text) : table_(table) { split(text); }

  std::vector<Segment> run() {
    for (int i = 1; i < static_cast<int>(symbols_.size()); ++i) offer(i - 1, i);
    while (!waiting_.empty()) {
      const Join join = waiting_.top();
      waiting_.pop();
      Symbol& left = at(join.left);
      Symbol& right = at(join.right);
      const bool is_gone = left.text.empty() || right.text.empty() ||
                           left.text.size() + right.text.size() != join.size_bytes;
      if (is_gone) continue;
      left.text = {left.text.data(), join.size_bytes};
      left.next = right.next;
      if (right.next != kNone) at(right.next).previous = join.left;
      right.text = {};
      offer(left.previous, join.left);
      offer(join.left, left.next);
    }
    std::vector<Segment> segments;
    for (int i = symbols_.empty() ? kNone : 0; i != kNone; i = at(i).next)
      take_apart(at(i).text, segments);
    return segments;
  }

 private:
  Symbol& at(int index) { return symbols_[static_cast<std::size_t>(index)]; }

  void split(std::string_view text) {
    while (!text.empty()) {
      Symbol symbol;
      const std::size_t own_bytes = table_.user_defined_bytes(text);
      symbol.is_frozen = own_bytes > 0;
      symbol.text = text.substr(0, own_bytes > 0 ? own_bytes : char_bytes(text));
      text.remove_prefix(symbol.text.size());
      const int index = static_cast<int>(symbols_.size());
      symbol.previous = index - 1;
      symbol.next = text.empty() ? kNone : index + 1;
      symbols_.push_back(symbol);
    }
  }

  void offer(int left, int right) {
    if (left == kNone || right == kNone || at(left).is_frozen || at(right).is_frozen) return;
    const std::string_view a = at(left).text;
    const std::string_view joined(a.data(), a.size() + at(right).text.size());
    const std::int32_t id = table_.find(joined);
    if (id < 0) return;
    waiting_.push({left, right, table_[id].score, joined.size()});
    if (table_[id].kind == PieceKind::kUnused) parts_[joined] = {a, at(right).text};
  }

  // An unused piece is no result: it falls back into what it was joined from.
  void take_apart(std::string_view text, std::vector<Segment>& segments) {
    std::vector<std::string_view> waiting{text};
    while (!waiting.empty()) {
      const std::string_view one = waiting.back();
      waiting.pop_back();
      const std::int32_t id = table_.id_of(one);
      const auto parts = parts_.find(one);
      if (table_[id].kind != PieceKind::kUnused || parts == parts_.end()) {
        segments.push_back({one, id});
        continue;
      }
      waiting.push_back(parts->second.second);
      waiting.push_back(parts->second.first);
    }
  }

  const PieceTable& table_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Join> waiting_;
  std::map<std::string_view, std::pair<std::string_view, std::string_view>> parts_;
};

}  // namespace

std::vector<Segment> segment_bpe(const PieceTable& table, std::string_view text) {
  return Joiner(table, text).run();
}

}  // namespace stoker::text::sentencepiece
