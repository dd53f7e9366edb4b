// The tree of a regular expression, as its text says it.
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace stoker::text
