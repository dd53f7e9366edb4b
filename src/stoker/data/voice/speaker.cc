#include "stoker/data/voice/speaker.h"

#include "stoker/base/philox.h"

namespace stoker::data::voice {

Speaker draw_speaker(std::uint64_t seed, std::uint32_t index) {
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
