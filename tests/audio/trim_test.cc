#include "stoker/audio/trim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/audio/sine.h"

namespace stoker::audio {
namespace {

// The values are librosa.effects.trim's for the same signal (librosa 0.11, frame 1024, hop 256).
TEST(TrimTest, SilenceAtBothEndsGoes) {
  std::vector<float> samples(22050, 0.0F);
  const std::vector<float> tone = sine(220, 0.5, 0.4, 22050);
  std::copy(tone.begin(), tone.end(), samples.begin() + 6000);
  const SampleRange range = find_speech(samples, {.top_db = 40});
  EXPECT_EQ(range.first, 5632U);
  EXPECT_EQ(range.first + range.count, 15360U);
}

TEST(TrimTest, PureSilenceLeavesNothing) {
  EXPECT_EQ(find_speech(std::vector<float>(5000, 0.0F), {}).count, 0U);
}

}  // namespace
}  // namespace stoker::audio
