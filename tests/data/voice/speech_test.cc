#include <gtest/gtest.h>

#include <string>

#include "stoker/data/voice/speech.h"
#include "stoker/data/voice/spelling.h"

namespace stoker::data::voice {
namespace {

std::string phones_of_word(const SpokenWord& word) {
  std::string out;
  for (const SpokenPhone& spoken : word.phones) out += (out.empty() ? "" : " ") + spoken.label;
  return out;
}

struct WordCase {
  const char* name;
  Language language;
  const char* word;
  const char* phones;
};

class VoiceWordTest : public testing::TestWithParam<WordCase> {};

TEST_P(VoiceWordTest, SoundsAsExpected) {
  const auto spoken = pronounce(GetParam().language, GetParam().word);
  ASSERT_EQ(spoken.size(), 1U);
  EXPECT_EQ(phones_of_word(spoken[0]), GetParam().phones);
}

constexpr auto kEn = Language::kEnglish;
constexpr auto kFa = Language::kPersian;
INSTANTIATE_TEST_SUITE_P(
    Words, VoiceWordTest,
    testing::Values(WordCase{"Listed", kEn, "woman", "W UH1 M AH0 N"},
                    WordCase{"Capital", kEn, "Mary", "M EH1 R IY0"},
                    WordCase{"PluralVoiced", kEn, "dogs", "D AO1 G Z"},
                    WordCase{"PluralVoiceless", kEn, "clocks", "K L AA1 K S"},
                    WordCase{"PluralHissing", kEn, "horses", "HH AO1 R S IH0 Z"},
                    WordCase{"PastVoiceless", kEn, "walked", "W AO1 K T"},
                    WordCase{"PastVoiced", kEn, "opened", "OW1 P AH0 N D"},
                    WordCase{"PastAfterT", kEn, "painted", "P EY1 N T AH0 D"},
                    WordCase{"PastOfSilentE", kEn, "closed", "K L OW1 Z D"},
                    WordCase{"IngOfSilentE", kEn, "making", "M EY1 K IH0 NG"},
                    WordCase{"Doubled", kEn, "stopped", "S T AA1 P T"},
                    WordCase{"SpelledMagicE", kEn, "plane", "P L EY1 N"},
                    WordCase{"SpelledDigraphs", kEn, "thatch", "TH AE1 CH"},
                    WordCase{"SpelledTion", kEn, "nation", "N EY1 SH AH0 N"},
                    WordCase{"PersianListed", kFa, "کتاب", "k e0 t A1 b"},
                    WordCase{"PersianEzafe", kFa, "کتابِ", "k e0 t A1 b e0"},
                    WordCase{"PersianEzafeAfterVowel", kFa, "دریاِ", "d a0 r y A1 y e0"},
                    WordCase{"PersianSpelled", kFa, "بامداد", "b A0 m d A1 d"},
                    WordCase{"PersianShortVowelPutIn", kFa, "سقف", "s a1 q f"},
                    WordCase{"PersianFinalHeh", kFa, "لانه", "l A0 n e1"},
                    WordCase{"PersianSignsObeyed", kFa, "گُلدان", "g o0 l d A1 n"}),
    [](const auto& instance) { return instance.param.name; });

TEST(VoiceSpeechTest, PunctuationBecomesPauses) {
  const auto spoken = pronounce(kEn, "Yes, she came. Why? Twenty-one men");
  ASSERT_EQ(spoken.size(), 7U);
  EXPECT_EQ(spoken[0].boundary, Boundary::kComma);
  EXPECT_EQ(spoken[1].boundary, Boundary::kNone);
  EXPECT_EQ(spoken[2].boundary, Boundary::kStatement);
  EXPECT_EQ(spoken[3].boundary, Boundary::kQuestion);
  EXPECT_EQ(spoken[4].text, "Twenty");
  EXPECT_EQ(spoken[6].boundary, Boundary::kStatement) << "the end is an end without a full stop";
}

TEST(VoiceSpeechTest, NothingToSayGivesNothing) {
  EXPECT_TRUE(pronounce(kEn, "").empty());
  EXPECT_TRUE(pronounce(kEn, " ... -- ?").empty());
  EXPECT_TRUE(pronounce(kFa, "123").empty());
}

TEST(VoiceSpeechTest, AmericanHabitsChangeTheSoundNotTheLabel) {
  const auto letter = pronounce(kEn, "letter")[0];
  EXPECT_EQ(letter.phones[2].label, "T");
  EXPECT_EQ(letter.phones[2].phone->manner, Manner::kFlap);
  EXPECT_EQ(pronounce(kEn, "hotel")[0].phones[2].phone->manner, Manner::kStop);
  EXPECT_EQ(pronounce(kEn, "bell")[0].phones[2].phone->symbol, "LD");
}

TEST(VoiceSpeechTest, SpellingRulesAnswerForAnyLetters) {
  for (const char* word : {"zzyzx", "q", "aeiou", "strengths", "xylophone", "'"}) {
    const std::string phones = spell_out_english(word);
    EXPECT_EQ(phones.find("  "), std::string::npos) << word;
  }
  EXPECT_EQ(drop_vowel_signs("کتابِ خوب"), "کتاب خوب");
}

}  // namespace
}  // namespace stoker::data::voice
