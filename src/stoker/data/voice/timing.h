// Durations: how long each sound lasts in its place, after the rules of Klatt (1979).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "stoker/data/voice/speech.h"

namespace stoker::data::voice {

// One sound or pause on the time line.
struct Segment {
  static constexpr std::size_t kNoWord = std::numeric_limits<std::size_t>::max();

  const Phone* phone = nullptr;
  Stress stress = Stress::kNone;
  std::size_t word_index = kNoWord;  // into the SpokenText; kNoWord for pauses
  std::size_t phone_index = 0;       // within the word
  double length_ms = 0;
  double breath_ms = 0;                   // voiceless onset left over by a stop before
  Boundary phrase_end = Boundary::kNone;  // set on the last sound before a pause
};

struct SilenceEdges {
  double lead_ms = 90;
  double tail_ms = 150;
};

// The whole utterance, with silence at both ends. `tempo` 1.1 is ten per cent faster.
std::vector<Segment> plan_timing(const SpokenText& text, const Phone& pause, double tempo,
                                 const SilenceEdges& edges);

double total_ms(const std::vector<Segment>& segments);

}  // namespace stoker::data::voice
