#include "stoker/text/script.h"

#include <gtest/gtest.h>

namespace stoker::text {
namespace {

TEST(ScriptTallyTest, TheScriptWithMostCharactersIsNamed) {
  ScriptTally tally;
  tally.add("س", 2);
  tally.add("я", 3);
  tally.add(".", 100);  // of every script
  EXPECT_EQ(tally.most_frequent().name, "Cyrillic");
  EXPECT_EQ(tally.most_frequent().languages.front(), "ru");
  tally.add("سلام", 1);
  EXPECT_EQ(tally.most_frequent().name, "Arabic");
  EXPECT_EQ(tally.most_frequent().languages.front(), "ar");
}

TEST(ScriptTallyTest, SignsHaveNoLanguage) {
  ScriptTally tally;
  tally.add("☺", 5);
  tally.add("\xFF", 5);
  EXPECT_EQ(tally.most_frequent().name, "signs");
  EXPECT_TRUE(tally.most_frequent().languages.empty());
}

}  // namespace
}  // namespace stoker::text
