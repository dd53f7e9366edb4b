// Finds where speech begins and ends, by the rule of librosa.effects.trim.
#pragma once

#include <cstddef>
#include <span>

namespace stoker::audio {

struct TrimRule {
  float top_db = 60.0F;  // frames this far below the loudest one are silence
  std::size_t frame_samples = 1024;
  std::size_t hop_samples = 256;
};

struct SampleRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Frames are centred with zeros beyond the ends; a frame is silent when 20*log10(rms / largest rms)
// <= -top_db, with rms floored at 1e-5. The range covers the first to the last frame that is not;
// it is empty when all samples are 0.
SampleRange find_speech(std::span<const float> samples, const TrimRule& rule);

}  // namespace stoker::audio
