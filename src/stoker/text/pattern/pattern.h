// Regular expressions that users write, matched without backtracking: time grows with pattern ×
// text and never faster, whatever the pattern.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/result.h"

namespace stoker::text {

// Bytes [begin, end) of the text that a group matched.
struct PatternGroup {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const PatternGroup&) const = default;
};

struct PatternStep;  // one instruction of the compiled pattern

// ECMAScript's syntax and choice (the leftmost match, the first alternative, greedy unless `?`
// follows) over code points: literals, . [a-z] [^a-z] \d \w \s \b and their opposites, groups,
// (?:…), |, * + ? {m,n}. What needs backtracking (\1, lookahead) is refused.
//
// Immutable; one instance serves every thread.
class Pattern {
 public:
  // A refusal has the caller's code and names the character where reading ended.
  static Result<Pattern> compile(std::string_view source, const ErrorCode& refusal);

  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  std::size_t num_groups() const noexcept { return num_groups_; }

  // Groups of the leftmost match: 0 is the whole, a group that took no part is empty-handed.
  // Nothing where the pattern is found nowhere.
  std::optional<std::vector<std::optional<PatternGroup>>> find(std::string_view text) const;

 private:
  explicit Pattern(std::vector<PatternStep> steps, std::size_t num_groups);

  std::vector<PatternStep> steps_;
  std::size_t num_groups_ = 0;
};

}  // namespace stoker::text
