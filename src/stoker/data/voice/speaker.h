// A speaker of the built-in voice: the few numbers by which two people saying the same thing
// differ.
#pragma once

#include <cstdint>

#include "stoker/base/philox.h"

namespace stoker::data::voice {

struct Speaker {
  double pitch_hz = 110;       // where the voice rests
  double pitch_range = 1.0;    // how far accents move it
  double tract_scale = 1.0;    // formants of a shorter tract are higher
  double tempo = 1.0;          // 1.1 speaks ten per cent faster
  double breathiness = 0.1;    // 0 pressed, 1 whispered
  double open_quotient = 0.6;  // share of the period in which the glottis is open
  double jitter = 0.006;       // period to period, relative
  double shimmer = 0.03;
};

// Speaker `index` of the data set made with `seed`. Even ones have low voices, odd ones high.
inline Speaker draw_speaker(std::uint64_t seed, std::uint32_t index) {
  KeyedDraws draws({.seed = seed, .stage = "voice-speaker", .item = index});
  const bool high = index % 2 == 1;
  Speaker speaker;
  speaker.pitch_hz = high ? draws.next_between(165, 205) : draws.next_between(92, 128);
  speaker.tract_scale = high ? draws.next_between(1.08, 1.16) : draws.next_between(0.97, 1.03);
  speaker.pitch_range = draws.next_between(0.8, 1.15);
  speaker.tempo = draws.next_between(0.92, 1.06);
  speaker.breathiness = high ? draws.next_between(0.12, 0.3) : draws.next_between(0.05, 0.2);
  speaker.open_quotient = high ? draws.next_between(0.58, 0.68) : draws.next_between(0.5, 0.6);
  speaker.jitter = draws.next_between(0.004, 0.01);
  speaker.shimmer = draws.next_between(0.02, 0.05);
  return speaker;
}

}  // namespace stoker::data::voice
