#include <gtest/gtest.h>

#include "tests/data/voice/probe.h"

namespace stoker::data::voice {
namespace {

constexpr double kFormantTolerance = 0.12;

struct VowelCase {
  const char* name;
  Language language;
};

class VoiceVowelTest : public testing::TestWithParam<VowelCase> {};

// A low voice samples the tract densely enough to measure it; the tract is each speaker's own.
Speaker measurable_speaker(std::uint32_t index) {
  Speaker speaker = draw_speaker(7, index);
  speaker.pitch_hz = 90;
  speaker.jitter = 0;
  return speaker;
}

TEST_P(VoiceVowelTest, FormantsLieWhereTheTableSays) {
  for (const Phone& phone : phones_of(GetParam().language)) {
    const bool is_steady = phone.start.f2_hz == phone.finish.f2_hz;
    if (!phone.is_vowel() || !is_steady) continue;
    for (std::uint32_t index = 0; index < 4; ++index) {
      const Speaker speaker = measurable_speaker(index);
      const auto sound = sustained(GetParam().language, phone.symbol, speaker);
      const auto peaks = spectral_peaks(predictor(sound, 14), 2);
      ASSERT_EQ(peaks.size(), 2U) << phone.symbol;
      const double f1_hz = phone.start.f1_hz * speaker.tract_scale;
      const double f2_hz = phone.start.f2_hz * speaker.tract_scale;
      EXPECT_NEAR(peaks[0], f1_hz, f1_hz * kFormantTolerance) << phone.symbol << " F1 of " << index;
      EXPECT_NEAR(peaks[1], f2_hz, f2_hz * kFormantTolerance) << phone.symbol << " F2 of " << index;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Languages, VoiceVowelTest,
                         testing::Values(VowelCase{"english", Language::kEnglish},
                                         VowelCase{"persian", Language::kPersian}),
                         [](const auto& instance) { return instance.param.name; });

TEST(VoiceSoundTest, VoicedSoundsRepeatAndVoicelessOnesDoNot) {
  const Speaker speaker = draw_speaker(7, 0);
  for (const char* voiced : {"IY", "AA", "ER", "M", "L", "V", "DH"}) {
    EXPECT_GT(periodicity(sustained(Language::kEnglish, voiced, speaker)), 0.8) << voiced;
  }
  for (const char* voiceless : {"S", "SH", "F", "TH"}) {
    EXPECT_LT(periodicity(sustained(Language::kEnglish, voiceless, speaker)), 0.4) << voiceless;
  }
}

double zero_crossings_per_second(const std::vector<double>& x) {
  double count = 0;
  for (std::size_t i = 1; i < x.size(); ++i) count += (x[i - 1] < 0) != (x[i] < 0) ? 1.0 : 0.0;
  return count * kProbeRateHz / static_cast<double>(x.size());
}

TEST(VoiceSoundTest, HissOfSLiesAboveHissOfSh) {
  const Speaker speaker = draw_speaker(7, 0);
  const auto rate_of = [&](const char* symbol) {
    return zero_crossings_per_second(sustained(Language::kEnglish, symbol, speaker));
  };
  EXPECT_GT(rate_of("S"), rate_of("SH") * 1.3);
  EXPECT_GT(rate_of("SH"), rate_of("AA") * 2.0);
}

TEST(VoiceSoundTest, SpeakersDifferInPitchAndTract) {
  EXPECT_GT(draw_speaker(7, 1).pitch_hz, draw_speaker(7, 0).pitch_hz * 1.2);
  EXPECT_GT(draw_speaker(7, 1).tract_scale, draw_speaker(7, 0).tract_scale);
  EXPECT_NE(draw_speaker(7, 0).pitch_hz, draw_speaker(8, 0).pitch_hz);
  EXPECT_EQ(draw_speaker(7, 3).pitch_hz, draw_speaker(7, 3).pitch_hz);
}

TEST(VoiceSoundTest, EveryRateGivesTheSameTimeAndNoClipping) {
  for (const std::uint32_t rate_hz : {8000U, 16000U, 22050U, 44100U, 48000U}) {
    std::vector<Frame> frames(400);
    for (Frame& frame : frames) frame.voice = 1.0;
    const auto pcm = synthesize(frames, draw_speaker(7, 1), {.rate_hz = rate_hz, .peak = 0.5});
    EXPECT_EQ(pcm.size(), rate_hz) << rate_hz;
    int loudest = 0;
    for (const std::int16_t sample : pcm) loudest = std::max(loudest, std::abs(int{sample}));
    EXPECT_NEAR(loudest, 16384, 2) << rate_hz;
  }
}

}  // namespace
}  // namespace stoker::data::voice
