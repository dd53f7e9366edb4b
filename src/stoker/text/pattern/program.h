// A regular expression as steps of a small machine that follows all ways at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/text/pattern/syntax.h"

namespace stoker::text {

struct PatternStep {
  enum class Kind {
    kSet,       // one code point of `test`, then the next step
    kFork,      // goes on at `first` and, less preferred, at `second`
    kRemember,  // puts the place into slot `first`
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
