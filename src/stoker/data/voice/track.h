// Control tracks: what the tract does every few milliseconds, with each sound bent by its
// neighbours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/data/voice/phone.h"
#include "stoker/data/voice/pitch.h"
#include "stoker/data/voice/timing.h"

namespace stoker::data::voice {

// One setting of the synthesiser; gains are linear.
struct Frame {
  double pitch_hz = 100;
  double voice = 0;
  double breath = 0;
  double noise = 0;
  std::array<double, 3> formant_hz{500, 1500, 2500};
  std::array<double, 3> width_hz{60, 90, 150};
  double nasal_zero_hz = Phone::kOralZeroHz;
  const NoiseColour* colour = nullptr;  // of the noise; null where there is none
  double colour_scale = 1.0;            // velar bursts follow the vowel's second formant
};

inline constexpr double kFrameMs = 2.5;

// Frames at kFrameMs steps over all of `segments`.
std::vector<Frame> plan_track(const std::vector<Segment>& segments, const PitchContour& pitch);

}  // namespace stoker::data::voice
