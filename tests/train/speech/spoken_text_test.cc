#include "stoker/train/speech/spoken_text.h"

#include <gmock/gmock.h>

#include "stoker/base/utf8.h"
#include "stoker/data/voice/phone.h"
#include "tests/train/speech/spoken_voice.h"

namespace stoker::train {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kEnglishPhones{"AH0", "D", "EH1", "G",  "HH",  "L",
                                              "OW1", "R", "S",   "SP", "ER1", "W"};

std::string symbols_of(const VoiceRecord& voice, const std::string& text) {
  std::string joined;
  for (const std::string& symbol : TextReader(voice, {}).read(text).symbols)
    joined += (joined.empty() ? "" : " ") + symbol;
  return joined;
}

TEST(SpokenTextTest, CharactersAreNormalisedAndHaveEdges) {
  EXPECT_EQ(symbols_of(character_voice(), "Dr. X"), "<begin> d o c t o r   x <end>");
}

TEST(SpokenTextTest, PhonesAreTakenAsTheyAre) {
  EXPECT_EQ(symbols_of(phone_voice(kEnglishPhones, "en"), "HH EH1 L OW1"),
            "<begin> HH EH1 L OW1 <end>");
}

TEST(SpokenTextTest, EnglishWordsArePronouncedWithTheirPauses) {
  const std::string spoken = symbols_of(phone_voice(kEnglishPhones, "en"), "Hello, world.");
  EXPECT_THAT(spoken, HasSubstr("L OW1 SP W ER1 L D <end>"));
}

TEST(SpokenTextTest, VowelOfAnotherStressStandsIn) {
  const std::vector<std::string> phones{"D", "G", "AO2", "AA2"};
  EXPECT_THAT(symbols_of(phone_voice(phones, "en"), "dog"),
              testing::MatchesRegex(".* D A[AO]2 G .*"));
}

TEST(SpokenTextTest, PersianWordsArePronounced) {
  std::vector<std::string> phones;
  for (const data::voice::Phone& phone : data::voice::phones_of(data::voice::Language::kPersian))
    for (const char* stress : {"", "0", "1", "2"})
      phones.push_back(std::string(phone.symbol) + stress);
  const auto tokens = TextReader(phone_voice(phones, "fa"), {}).read("سلام دنیا");
  EXPECT_GT(tokens.ids.size(), 7U);
}

// A cut inside a character would show as bytes that nobody wrote.
TEST(SpokenTextTest, LongTextIsQuotedInWholeCharacters) {
  for (std::size_t num_before = 0; num_before < 4; ++num_before) {
    std::string text(num_before, ' ');
    for (int i = 0; i < 40; ++i) text += "漢";
    try {
      TextReader(character_voice(), {}).read(text);
      FAIL();
    } catch (const ConfigError& refused) {
      const std::string& quoted = refused.error().place.file;
      EXPECT_EQ(find_invalid_utf8(quoted), quoted.size()) << quoted;
      EXPECT_THAT(quoted, testing::EndsWith("漢…\""));
      EXPECT_EQ(error_line(refused.error()).find("\\x"), std::string::npos);
    }
  }
}

struct BadText {
  std::string name;
  VoiceRecord voice;
  std::string text;
  std::string found;
};

class BadTextTest : public testing::TestWithParam<BadText> {};

TEST_P(BadTextTest, IsRefusedByName) {
  try {
    TextReader(GetParam().voice, {}).read(GetParam().text);
    FAIL();
  } catch (const ConfigError& refused) {
    EXPECT_EQ(refused.error().code->name, "E-SPEAK-TEXT");
    EXPECT_THAT(refused.error().found, HasSubstr(GetParam().found));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadTextTest,
    testing::Values(BadText{"Empty", character_voice(), "", "blanks"},
                    BadText{"Blanks", character_voice(), " \t\n", "blanks"},
                    BadText{"NoKnownCharacter", character_voice(), "漢字漢字", ""},
                    BadText{"NotUtf8", character_voice(), "a\xFF", "other bytes"},
                    BadText{"PhoneNeverHeard", phone_voice({"D", "G"}, "en"), "dog", "A"},
                    BadText{"NothingToPronounce", phone_voice({"D", "G"}, "en"), "...", "nothing"},
                    BadText{"WordsOfALanguageWithoutVoice", phone_voice({"D", "G"}, "de"), "Hund",
                            "words of language de"}),
    [](const auto& each) { return each.param.name; });

struct OtherVocabulary {
  std::string name;
  VoiceRecord voice;
  ReadingRules rules;
};

class OtherVocabularyTest : public testing::TestWithParam<OtherVocabulary> {};

TEST_P(OtherVocabularyTest, IsRefusedByName) {
  try {
    const TextReader reader(GetParam().voice, GetParam().rules);
    FAIL();
  } catch (const ConfigError& refused) {
    EXPECT_EQ(refused.error().code->name, "E-SPEAK-VOCABULARY");
  }
}

VoiceRecord voice_of_another_size() {
  VoiceRecord voice = character_voice();
  ++voice.shape.num_tokens;
  return voice;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, OtherVocabularyTest,
    testing::Values(OtherVocabulary{"Vocabulary", character_voice(), {.vocabulary = "bytes"}},
                    OtherVocabulary{"Language", character_voice(), {.language = "fa"}},
                    OtherVocabulary{
                        "LanguageOfPhones", phone_voice({"D"}, "en"), {.language = "fa"}},
                    OtherVocabulary{"NumberOfSymbols", voice_of_another_size(), {}}),
    [](const auto& each) { return each.param.name; });

TEST(SpokenTextTest, SameVocabularyAndLanguageAreTaken) {
  const TextReader reader(character_voice(), {.language = "en", .vocabulary = "characters"});
  EXPECT_FALSE(reader.read("yes").ids.empty());
}

}  // namespace
}  // namespace stoker::train
