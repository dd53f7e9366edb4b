#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "stoker/base/utf8.h"
#include "stoker/text/pattern/program.h"

namespace stoker::text {
namespace {

using Kind = PatternNode::Kind;
constexpr std::size_t kDeepestGroup = 64;
constexpr std::uint32_t kMostRepeats = 1000;
constexpr std::uint32_t kLastCodePoint = 0x10FFFF;

constexpr std::array kDigits{CodeRange{'0', '9'}};
constexpr std::array kWords{CodeRange{'0', '9'}, CodeRange{'A', 'Z'}, CodeRange{'_', '_'},
                            CodeRange{'a', 'z'}};
constexpr std::array kSpaces{CodeRange{'\t', '\r'}, CodeRange{' ', ' '}};
constexpr std::array kLineEnds{CodeRange{'\n', '\n'}, CodeRange{'\r', '\r'},
                               CodeRange{0x2028, 0x2029}};

bool is_ascii_alnum(std::uint32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

std::vector<CodeRange> complement(std::vector<CodeRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](auto a, auto b) { return a.low < b.low; });
  std::vector<CodeRange> rest;
  std::uint32_t next = 0;
  for (const CodeRange& range : ranges) {
    if (range.low > next) rest.push_back({next, range.low - 1});
    next = std::max(next, range.high + 1);
  }
  rest.push_back({next, kLastCodePoint});
  return rest;
}

// \d \w \s and, by the capital letter, what they leave out.
std::optional<std::vector<CodeRange>> class_of(std::uint32_t letter) {
  std::vector<CodeRange> ranges;
  const std::uint32_t small = letter | 0x20U;
  if (small == 'd') ranges.assign(kDigits.begin(), kDigits.end());
  if (small == 'w') ranges.assign(kWords.begin(), kWords.end());
  if (small == 's') ranges.assign(kSpaces.begin(), kSpaces.end());
  if (ranges.empty()) return std::nullopt;
  return letter == small ? ranges : complement(ranges);
}

// Recursive descent; the first fault ends it.
class Parser {
 public:
  Parser(std::string_view source, const ErrorCode& refusal) : source_(source), refusal_(refusal) {}

  Result<PatternTree> parse() {
    if (find_invalid_utf8(source_) != source_.size())
      return fault_error("bytes that are not UTF-8");
    PatternTree tree;
    tree.root = choice(0);
    if (!failed() && at_ < source_.size()) fail("\")\" without \"(\" before it");
    if (failed()) return fault_error(fault_);
    tree.num_groups = num_groups_;
    return tree;
  }

 private:
  bool failed() const { return !fault_.empty(); }
  bool at_end() const { return failed() || at_ == source_.size(); }
  bool sees(char c) const { return !at_end() && source_[at_] == c; }
  bool take(std::string_view text) {
    if (failed() || !source_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  std::uint32_t take_code_point() {
    const Utf8Char next = decode_utf8(source_.substr(at_));
    at_ += next.size_bytes;
    return next.code_point;
  }
  void fail(std::string found) {
    if (!failed()) fault_ = std::move(found);
  }
  Error fault_error(std::string found) const {
    return Error{.code = &refusal_,
                 .place = {},
                 .promised = "a regular expression",
                 .found = fmt::format("{} at character {}", found, at_ + 1),
                 .action = {},
                 .cure = {}};
  }

  PatternNode choice(std::size_t depth) {
    PatternNode node{.kind = Kind::kChoice};
    do node.children.push_back(sequence(depth));
    while (take("|"));
    return node.children.size() == 1 ? std::move(node.children.front()) : std::move(node);
  }

  PatternNode sequence(std::size_t depth) {
    PatternNode node{.kind = Kind::kSequence};
    while (!at_end() && !sees('|') && !sees(')')) node.children.push_back(repeated(depth));
    return node;
  }

  PatternNode repeated(std::size_t depth) {
    const bool can_repeat = !sees('^') && !sees('$');
    PatternNode node = atom(depth);
    const bool is_edge = node.kind == Kind::kWordEdge || node.kind == Kind::kNotWordEdge;
    const auto times = quantifier();
    if (!times) return node;
    if (!can_repeat || is_edge) fail("a repeat of a position");
    PatternNode repeat{.kind = Kind::kRepeat, .min = times->first, .max = times->second};
    repeat.is_lazy = take("?");
    repeat.children.push_back(std::move(node));
    if (sees('*') || sees('+') || sees('?') || sees('{')) fail("a repeat of a repeat");
    return repeat;
  }

  std::optional<std::pair<std::uint32_t, std::uint32_t>> quantifier() {
    if (take("*")) return std::pair{0U, PatternNode::kNoMaximum};
    if (take("+")) return std::pair{1U, PatternNode::kNoMaximum};
    if (take("?")) return std::pair{0U, 1U};
    if (!take("{")) return std::nullopt;
    const std::uint32_t min = number();
    std::uint32_t max = min;
    if (take(",")) max = sees('}') ? PatternNode::kNoMaximum : number();
    if (!take("}")) fail("a repeat without \"}\"");
    if (max < min) fail("a repeat whose least is above its most");
    return std::pair{min, max};
  }

  std::uint32_t number() {
    std::uint32_t value = 0;
    const std::size_t first = at_;
    while (!at_end() && source_[at_] >= '0' && source_[at_] <= '9' && value <= kMostRepeats)
      value = value * 10 + static_cast<std::uint32_t>(source_[at_++] - '0');
    if (at_ == first) fail("a repeat without a number");
    if (value > kMostRepeats) fail(fmt::format("a repeat of more than {}", kMostRepeats));
    return value;
  }

  PatternNode atom(std::size_t depth) {
    if (take("(")) return group(depth + 1);
    if (take("[")) return set();
    if (take("^")) return {.kind = Kind::kTextBegin};
    if (take("$")) return {.kind = Kind::kTextEnd};
    if (take("."))
      return {.kind = Kind::kSet, .ranges = complement({kLineEnds.begin(), kLineEnds.end()})};
    if (take("\\b")) return {.kind = Kind::kWordEdge};
    if (take("\\B")) return {.kind = Kind::kNotWordEdge};
    if (take("\\")) return {.kind = Kind::kSet, .ranges = escape()};
    if (sees('*') || sees('+') || sees('?') || sees('{')) fail("a repeat of nothing");
    if (at_end()) return {};
    const std::uint32_t c = take_code_point();
    return {.kind = Kind::kSet, .ranges = {{c, c}}};
  }

  PatternNode group(std::size_t depth) {
    if (depth > kDeepestGroup) fail(fmt::format("groups nested deeper than {}", kDeepestGroup));
    PatternNode node{.kind = Kind::kGroup};
    const bool is_plain = take("?:");
    if (!is_plain && sees('?')) fail("\"(?\", of which only \"(?:\" is read: no lookahead");
    if (!is_plain) node.group = ++num_groups_;
    node.children.push_back(failed() ? PatternNode{} : choice(depth));
    if (!take(")")) fail("\"(\" without \")\"");
    return is_plain ? std::move(node.children.front()) : std::move(node);
  }

  // After the backslash.
  std::vector<CodeRange> escape() {
    if (at_end()) {
      fail("a backslash at the end");
      return {};
    }
    if (source_[at_] >= '1' && source_[at_] <= '9')
      fail("a backreference, which needs backtracking");
    const std::uint32_t letter = take_code_point();
    if (auto known = class_of(letter)) return *known;
    const std::uint32_t c = escaped_character(letter);
    return {{c, c}};
  }

  std::uint32_t escaped_character(std::uint32_t letter) {
    switch (letter) {
      case 't':
        return '\t';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case '0':
        return 0;
      case 'x':
        return hexadecimal(2);
      case 'u':
        return hexadecimal(4);
      default:
        break;
    }
    if (is_ascii_alnum(letter)) fail(fmt::format("unknown \\{}", static_cast<char>(letter)));
    return letter;
  }

  std::uint32_t hexadecimal(std::size_t num_digits) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < num_digits; ++i) {
      const std::uint32_t c = at_end() ? 0U : static_cast<unsigned char>(source_[at_]);
      const bool is_digit = c >= '0' && c <= '9';
      const std::uint32_t letter = c | 0x20U;
      if (!is_digit && (letter < 'a' || letter > 'f')) {
        fail(fmt::format("\\x or \\u without {} hexadecimal digits", num_digits));
        return 0;
      }
      value = value * 16 + (is_digit ? c - '0' : letter - 'a' + 10);
      ++at_;
    }
    return value;
  }

  // After the bracket.
  PatternNode set() {
    PatternNode node{.kind = Kind::kSet};
    node.is_negated = take("^");
    while (!at_end() && !sees(']')) {
      const std::vector<CodeRange> low = set_member();
      node.ranges.insert(node.ranges.end(), low.begin(), low.end());
      const bool is_span = sees('-') && at_ + 1 < source_.size() && source_[at_ + 1] != ']';
      if (!is_span) continue;
      take("-");
      const std::vector<CodeRange> high = set_member();
      if (failed()) break;
      const bool single = low.size() == 1 && high.size() == 1 && low[0].low == low[0].high &&
                          high[0].low == high[0].high;
      if (!single || high[0].low < low[0].low) fail("a span that does not go up");
      node.ranges.push_back({low[0].low, high[0].high});
    }
    if (!take("]")) fail("\"[\" without \"]\"");
    return node;
  }

  std::vector<CodeRange> set_member() {
    if (take("[:")) {
      fail("a class of the form [:alpha:]; write a-zA-Z");
      return {};
    }
    if (take("\\b")) return {{'\b', '\b'}};
    if (take("\\")) return escape();
    if (at_end()) {
      fail("\"[\" without \"]\"");
      return {};
    }
    const std::uint32_t c = take_code_point();
    return {{c, c}};
  }

  std::string_view source_;
  const ErrorCode& refusal_;
  std::size_t at_ = 0;
  std::size_t num_groups_ = 0;
  std::string fault_;
};

}  // namespace

bool is_in(const PatternNode& set, std::uint32_t code_point) noexcept {
  const bool listed =
      std::any_of(set.ranges.begin(), set.ranges.end(), [code_point](const CodeRange& range) {
        return code_point >= range.low && code_point <= range.high;
      });
  return listed != set.is_negated;
}

bool is_word(std::uint32_t code_point) noexcept {
  return is_ascii_alnum(code_point) || code_point == '_';
}

Result<PatternTree> parse_pattern(std::string_view source, const ErrorCode& refusal) {
  return Parser(source, refusal).parse();
}

}  // namespace stoker::text
