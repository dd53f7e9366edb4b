// A speaker of the built-in voice: the few numbers by which two people saying the same thing
// differ.
#pragma once

#include <cstdint>

namespace stoker::data::voice {

struct Speaker {
  double pitch_hz = 110;       // where the voice rests
  double pitch_range = 1.0;    // how far accents move it
  double tract_scale = 1.0;    // formants of a shorter tract lie higher
  double tempo = 1.0;          // 1.1 speaks ten per cent faster
  double breathiness = 0.1;    // 0 pressed, 1 whispered
  double open_quotient = 0.6;  // share of the period in which the glottis is open
  double jitter = 0.006;       // period to period, relative
  double shimmer = 0.03;
};

// Speaker `index` of the data set made with `seed`. Even ones have low voices, odd ones high.
Speaker draw_speaker(std::uint64_t seed, std::uint32_t index);

}  // namespace stoker::data::voice
