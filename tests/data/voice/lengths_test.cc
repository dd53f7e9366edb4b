#include "stoker/data/voice/lengths.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/data/voice/utterance_maker.h"

namespace stoker::data::voice {
namespace {

TEST(VoiceLengthsTest, NamesAndRangesAreRead) {
  EXPECT_EQ(parse_lengths("natural").take_or_raise().kind, LengthKind::kNatural);
  EXPECT_EQ(parse_lengths("ljspeech").take_or_raise().kind, LengthKind::kLjSpeech);
  const Lengths uniform = parse_lengths("uniform:1.5-4").take_or_raise();
  EXPECT_EQ(uniform.kind, LengthKind::kUniform);
  EXPECT_EQ(uniform.low_s, 1.5);
  EXPECT_EQ(uniform.high_s, 4.0);
}

TEST(VoiceLengthsTest, AnythingElseIsRefused) {
  for (const char* text :
       {"", "lj", "uniform", "uniform:", "uniform:3", "uniform:4-2", "uniform:0.1-2",
        "uniform:1-61", "uniform:a-b", "uniform:1-2s", "uniform:nan-2"}) {
    const auto parsed = parse_lengths(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code->name, "E-MAKE-OPTION");
  }
}

TEST(VoiceLengthsTest, DrawsFollowLjSpeech) {
  double sum = 0, low = 99, high = 0;
  constexpr int kNumDraws = 20000;
  KeyedDraws draws({.seed = 3, .stage = "lengths-test", .item = 1});
  for (int i = 0; i < kNumDraws; ++i) {
    const double length_s = *draw_length_s({.kind = LengthKind::kLjSpeech}, draws);
    sum += length_s;
    low = std::min(low, length_s);
    high = std::max(high, length_s);
  }
  EXPECT_NEAR(sum / kNumDraws, 6.57, 0.05);
  EXPECT_GE(low, 1.1);
  EXPECT_LE(high, 10.1);
}

struct SpokenCase {
  const char* name;
  Language language;
  Lengths lengths;
};
class VoiceSpokenLengthTest : public testing::TestWithParam<SpokenCase> {};

// The words are chosen and stretched to the drawn length, not cut or padded to it.
TEST_P(VoiceSpokenLengthTest, UtterancesReachTheDrawnLength) {
  for (std::uint64_t i = 0; i < 12; ++i) {
    const auto made = make_utterance({.seed = 11,
                                      .index = i,
                                      .language = GetParam().language,
                                      .speaker = draw_speaker(11, i % 4),
                                      .lengths = GetParam().lengths,
                                      .rate_hz = 16000});
    KeyedDraws draws({.seed = 11, .stage = "voice-utterance", .item = i});
    const double wanted_s = *draw_length_s(GetParam().lengths, draws);
    EXPECT_NEAR(static_cast<double>(made.samples.size()) / 16000, wanted_s, 0.01) << i;
    const double spoken_s = made.words.back().end_s - made.words.front().begin_s;
    EXPECT_GT(spoken_s, wanted_s * 0.6) << made.sentence.raw;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Lengths, VoiceSpokenLengthTest,
    testing::Values(SpokenCase{"english", Language::kEnglish, {.kind = LengthKind::kLjSpeech}},
                    SpokenCase{"persian", Language::kPersian, {.kind = LengthKind::kLjSpeech}},
                    SpokenCase{"long", Language::kEnglish, {LengthKind::kUniform, 15, 20}}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace stoker::data::voice
