#include <gtest/gtest.h>

#include <set>
#include <string>

#include "stoker/data/voice/lexicon.h"
#include "stoker/data/voice/sentence.h"
#include "stoker/data/voice/speech.h"
#include "stoker/text/normalizer.h"

namespace stoker::data::voice {
namespace {

struct LanguageCase {
  const char* name;
  Language language;
};

class VoiceSentenceTest : public testing::TestWithParam<LanguageCase> {
 protected:
  Sentence draw(SentenceSize size, std::uint64_t item) const {
    KeyedDraws draws({.seed = 5, .stage = "sentence-test", .item = item});
    return draw_sentence(GetParam().language, size, draws);
  }
};

TEST_P(VoiceSentenceTest, ThousandsOfPlainOnesDiffer) {
  std::set<std::string> different;
  for (std::uint64_t i = 0; i < 4000; ++i) different.insert(draw(SentenceSize::kPlain, i).raw);
  EXPECT_GT(different.size(), 3000U);
}

TEST_P(VoiceSentenceTest, NumbersAreAmongThem) {
  int num_with_number = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Sentence sentence = draw(SentenceSize::kPlain, i);
    num_with_number += sentence.raw != sentence.normalised ? 1 : 0;
    EXPECT_EQ(sentence.normalised.find_first_of("0123456789$%{}<>|"), std::string::npos)
        << sentence.normalised;
  }
  EXPECT_GT(num_with_number, 150);
}

TEST_P(VoiceSentenceTest, NormalisedColumnIsWhatTheNormaliserGives) {
  const bool persian = GetParam().language == Language::kPersian;
  const auto normalizer = text::normalizer_for(persian ? "fa" : "en");
  for (const auto size : {SentenceSize::kShort, SentenceSize::kPlain, SentenceSize::kLong}) {
    for (std::uint64_t i = 0; i < 600; ++i) {
      const Sentence sentence = draw(size, i);
      ASSERT_EQ(normalizer->normalize(sentence.raw), sentence.normalised) << sentence.raw;
    }
  }
}

TEST_P(VoiceSentenceTest, PlainOnesHaveFourToTwentyWords) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto spoken = pronounce(GetParam().language, draw(SentenceSize::kPlain, i).spoken);
    EXPECT_GE(spoken.size(), 4U);
    EXPECT_LE(spoken.size(), 20U);
  }
}

TEST_P(VoiceSentenceTest, SameDrawsGiveTheSameSentence) {
  EXPECT_EQ(draw(SentenceSize::kLong, 9).raw, draw(SentenceSize::kLong, 9).raw);
  EXPECT_NE(draw(SentenceSize::kLong, 9).raw, draw(SentenceSize::kLong, 10).raw);
}

INSTANTIATE_TEST_SUITE_P(Languages, VoiceSentenceTest,
                         testing::Values(LanguageCase{"english", Language::kEnglish},
                                         LanguageCase{"persian", Language::kPersian}),
                         [](const auto& instance) { return instance.param.name; });

TEST(VoiceGrammarTest, EveryPersianWordIsInTheLexicon) {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    KeyedDraws draws({.seed = 6, .stage = "sentence-test", .item = i});
    const Sentence sentence = draw_sentence(Language::kPersian, SentenceSize::kLong, draws);
    for (const SpokenWord& word : pronounce(Language::kPersian, sentence.normalised)) {
      ASSERT_FALSE(find_in_lexicon(Language::kPersian, word.text).empty()) << word.text;
    }
  }
}

}  // namespace
}  // namespace stoker::data::voice
