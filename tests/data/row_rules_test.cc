#include "stoker/data/row_rules.h"

#include <gtest/gtest.h>

namespace stoker::data {
namespace {

struct SpeakerCase {
  const char* id;
  const char* pattern;
  const char* speaker;
};

TEST(SpeakerRuleTest, PatternFirstThenTheUsualParts) {
  for (const auto& [id, pattern, speaker] :
       {SpeakerCase{"p225_001_mic1", "", "p225"}, SpeakerCase{"LJ_spk07_0001", "", "spk07"},
        SpeakerCase{"en_speaker3_x", "", "speaker3"}, SpeakerCase{"book_1284_0001", "", "1284"},
        SpeakerCase{"LJ001-0001", "", "LJ001-0001"}, SpeakerCase{"abc_def", "", "abc"},
        SpeakerCase{"LJ001-0001", "^([A-Z]+)", "LJ"}, SpeakerCase{"nothing", "(x9)", "nothing"}}) {
    const SpeakerRule rule(pattern);
    EXPECT_EQ(rule.matched(id).value_or(SpeakerRule::guessed(id)), speaker)
        << id << " by " << pattern;
  }
}

TEST(SpeakerRuleTest, APatternThatIsNoneIsRefused) {
  for (const char* pattern : {"(", "no group", "(a)\\1", "(?=a)(b)"}) {
    EXPECT_THROW(SpeakerRule{pattern}, ConfigError);
  }
}

TEST(SpeakerRuleTest, NoPatternTakesLongerThanTheIdIsLong) {
  const SpeakerRule rule("(a+)+$");
  const std::string id = std::string(1000, 'a') + "_7!";
  for (int i = 0; i < 100; ++i) ASSERT_EQ(rule.matched(id), std::nullopt);
  EXPECT_EQ(SpeakerRule::guessed(id), std::string(1000, 'a'));
}

}  // namespace
}  // namespace stoker::data
