// One utterance of a made data set: what is said, by whom, the sound, and when each sound of it
// is heard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/data/voice/lengths.h"
#include "stoker/data/voice/sentence.h"
#include "stoker/data/voice/speaker.h"
#include "stoker/data/voice/speech.h"

namespace stoker::data::voice {

struct UtterancePlan {
  std::uint64_t seed = kDefaultSeed;
  std::uint64_t index = 0;  // of the utterance in its data set
  Language language = Language::kEnglish;
  Speaker speaker;
  Lengths lengths;
  std::uint32_t rate_hz = 22050;
};

struct TimedLabel {
  std::string label;
  double begin_s = 0;
  double end_s = 0;
};

struct MadeUtterance {
  Sentence sentence;
  std::vector<std::int16_t> samples;
  std::vector<TimedLabel> phones;  // pauses included, as "SP"
  std::vector<TimedLabel> words;
};

// A pure function of the plan: no clock, no thread, no earlier utterance changes a byte.
MadeUtterance make_utterance(const UtterancePlan& plan);

}  // namespace stoker::data::voice
