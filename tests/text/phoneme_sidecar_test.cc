#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stoker/text/phoneme_sidecar.h"
#include "stoker/text/tokenizer.h"

namespace stoker::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PhonemeTest, SidecarGivesPhonesById) {
  const auto sidecar =
      PhonemeSidecar::parse("\xEF\xBB\xBFu1|HH AH L OW\r\n\nu2|W  ER L D", "phonemes.csv");
  ASSERT_TRUE(sidecar.ok());
  EXPECT_EQ(sidecar->num_utterances(), 2U);
  EXPECT_EQ(*sidecar->find("u1"), "HH AH L OW");
  EXPECT_EQ(*sidecar->find("u2"), "W ER L D");
  EXPECT_EQ(sidecar->find("u3"), nullptr);
  EXPECT_THAT(sidecar->symbols(), ElementsAre("AH", "D", "ER", "HH", "L", "OW", "W"));
}

TEST(PhonemeTest, BadLinesAreNamed) {
  struct Case {
    const char* content;
    std::uint64_t line;
    const char* found;
  };
  for (const Case& row :
       {Case{"u1|A\nu2 A\n", 2, "no '|'"}, Case{"|A", 1, "empty id"}, Case{"u1| ", 1, "no phones"},
        Case{"u1|A\nu1|B", 2, "second time"}, Case{"u1|\xFF", 1, "UTF-8"}}) {
    const auto sidecar = PhonemeSidecar::parse(row.content, "phonemes.csv");
    ASSERT_FALSE(sidecar.ok()) << row.content;
    EXPECT_EQ(sidecar.error().code->name, "E-TEXT-PHONES");
    EXPECT_EQ(sidecar.error().place.line, row.line);
    EXPECT_THAT(sidecar.error().found, HasSubstr(row.found));
  }
}

TEST(PhonemeTest, PhonesBecomeIdsInTheOrderOfTheInventory) {
  const Tokenizer tokenizer({.vocabulary = "phonemes", .phones = {"AH", "B", "OW"}});
  TokenizeScratch scratch;
  std::vector<std::int32_t> ids;
  ASSERT_EQ(tokenizer.tokenize("B OW ZZ AH", scratch, ids), TokenizeOutcome::kDone);
  EXPECT_THAT(ids, ElementsAre(6, 7, 5));
  ASSERT_EQ(scratch.unknown.size(), 1U);
  EXPECT_EQ(scratch.unknown[0].symbol, "ZZ");
}

TEST(PhonemeTest, VocabularyWithoutPhonesIsRefused) {
  EXPECT_THROW(Tokenizer({.vocabulary = "phonemes"}), DataError);
}

}  // namespace
}  // namespace stoker::text
