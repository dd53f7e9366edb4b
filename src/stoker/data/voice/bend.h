// Coarticulation: the path of each tract parameter through a row of sounds.
#pragma once

#include <array>
#include <vector>

#include "stoker/data/voice/timing.h"

namespace stoker::data::voice {

// f1, f2, f3, b1, b2, b3 and the nasal zero, in Hz.
inline constexpr std::size_t kNumTractValues = 7;
using TractValues = std::array<double, kNumTractValues>;

// A sound in its place: its own targets, the values at its two boundaries, and how fast it moves
// between them.
struct BentSegment {
  TractValues start{}, finish{};
  TractValues left{}, right{};
  double left_ms = 0, right_ms = 0;
  double length_ms = 0;
  double locus_f2_hz = 0;  // of velars, which take it from the vowel beside them

  TractValues at_ms(double since_begin_ms) const;
};

std::vector<BentSegment> bend_segments(const std::vector<Segment>& segments);

}  // namespace stoker::data::voice
