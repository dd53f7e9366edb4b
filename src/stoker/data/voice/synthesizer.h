// From control tracks to sound: a cascade of resonances for voice and breath, a parallel bank for
// turbulence (after Klatt 1980).
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/data/voice/speaker.h"
#include "stoker/data/voice/track.h"

namespace stoker::data::voice {

struct SoundSettings {
  std::uint32_t rate_hz = 22050;
  std::uint64_t noise_seed = 1;
  double peak = 0.6;  // of full scale, reached by the loudest sample
};

// Samples for all frames. A pure function of its arguments: the same bytes on every x86-64 machine.
std::vector<std::int16_t> synthesize(const std::vector<Frame>& frames, const Speaker& speaker,
                                     const SoundSettings& settings);

}  // namespace stoker::data::voice
