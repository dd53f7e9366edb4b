// A regular expression as a tree, and as steps of a small machine that follows all paths at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/base/result.h"

namespace stoker::text {

// Code points [low, high].
struct CodeRange {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};

struct PatternNode {
  enum class Kind {
    kSet,          // one code point of `ranges`
    kSequence,     // children one after the other
    kChoice,       // the first child that leads to a match
    kRepeat,       // child 0, min to max times
    kGroup,        // child 0, remembered as `group`
    kTextBegin,    // ^
    kTextEnd,      // $
    kWordEdge,     // \b
    kNotWordEdge,  // \B
  };
  static constexpr std::uint32_t kNoMaximum = UINT32_MAX;

  Kind kind = Kind::kSequence;
  std::vector<CodeRange> ranges = {};
  bool is_negated = false;  // of kSet
  std::vector<PatternNode> children = {};
  std::uint32_t min = 0;
  std::uint32_t max = kNoMaximum;
  bool is_lazy = false;
  std::size_t group = 0;
};

struct PatternTree {
  PatternNode root;
  std::size_t num_groups = 0;
};

bool is_in(const PatternNode& set, std::uint32_t code_point) noexcept;
bool is_word(std::uint32_t code_point) noexcept;

// Refuses text that is no expression, or one that cannot be matched in linear time.
Result<PatternTree> parse_pattern(std::string_view source, const ErrorCode& refusal);

struct PatternStep {
  enum class Kind {
    kSet,       // one code point of `test`, then the next step
    kFork,      // goes on at `first` and, less preferred, at `second`
    kRemember,  // puts the position into slot `first`
    kPosition,  // the next step where `test` holds: ^ $ \b \B
    kMatch,
  };
  Kind kind = Kind::kMatch;
  std::size_t first = 0;
  std::size_t second = 0;
  PatternNode test = {};  // without children
};

// Slots 2g and 2g+1 hold begin and end of group g. Nothing where counted repeats make more steps
// than kMostSteps.
inline constexpr std::size_t kMostSteps = 4096;
std::optional<std::vector<PatternStep>> make_steps(const PatternTree& tree);

}  // namespace stoker::text
