// Intonation: declination over each phrase, a bump on each accented word, a tune at the end.
#pragma once

#include <vector>

#include "stoker/base/philox.h"
#include "stoker/data/voice/speaker.h"
#include "stoker/data/voice/timing.h"

namespace stoker::data::voice {

// The melody of one utterance as a function of time. Immutable once built.
class PitchContour {
 public:
  PitchContour(const SpokenText& text, const std::vector<Segment>& segments, const Speaker& speaker,
               KeyedDraws& draws);

  // Pitch in Hz. Calls must come with times that never fall by more than a phrase; any order is
  // right, rising order is fast.
  double at_ms(double time_ms) const;

 private:
  struct Phrase {
    double begin_ms, end_ms;
    double tail_begin_ms;  // from here the final tune bends
    double tail_semitones;
  };
  struct Accent {
    double peak_ms, rise_ms, fall_ms, semitones;
  };

  double accents_at(double time_ms) const;

  double rest_hz_;
  double range_;
  double utterance_ms_ = 0;
  std::vector<Phrase> phrases_;
  std::vector<Accent> accents_;
};

}  // namespace stoker::data::voice
