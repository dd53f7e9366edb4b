#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(TextCommandTest, ShowsEachStepAndTheIds) {
  const ProgramRun run = run_program("text 'Dr. Smith paid $3.50 on 2/3/2024'");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("$3.50 -> three dollars and fifty cents"));
  EXPECT_THAT(run.out, HasSubstr("2/3/2024 -> February third, twenty twenty-four"));
  EXPECT_THAT(run.out, HasSubstr("ids "));
}

TEST(TextCommandTest, JsonHasTheWordsStepsIdsAndUnknowns) {
  const ProgramRun run = run_program("text 'Dr. 中 Smith' --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json object = json::parse(run.out);
  EXPECT_EQ(object["command"], "text");
  EXPECT_EQ(object["normalized"], "Dr. 中 Smith");
  EXPECT_TRUE(object["steps"].is_array());
  EXPECT_EQ(object["ids"].size(), 11U);
  ASSERT_EQ(object["unknown"].size(), 1U);
  EXPECT_EQ(object["unknown"][0]["symbol"], "中");
}

TEST(TextCommandTest, LegacyVocabularyBringsItsCleaner) {
  const ProgramRun run = run_program("text 'A b' --vocabulary myxtts --add-blank --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json object = json::parse(run.out);
  EXPECT_EQ(object["cleaner"], "english_cleaners");
  EXPECT_EQ(object["ids"], json::parse("[1,4,88,3,5,88,93]"));
}

TEST(TextCommandTest, PersianIsReadInPersian) {
  const ProgramRun run = run_program("text '۲۵ کتاب' --language fa --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["normalized"], "بیست و پنج کتاب");
}

TEST(TextCommandTest, SettingsReachItAsEverywhere) {
  const ProgramRun run = run_program("text 'A b' --set text.vocabulary=bytes --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["vocabulary"], "bytes");
}

struct Bad {
  const char* arguments;
  int exit_code;
  const char* code;
};

TEST(TextCommandTest, BadTextsAndNamesAreRefusedByCode) {
  for (const Bad& row :
       {Bad{"text '...'", 3, "E-META-NOTEXT"}, Bad{"text ''", 3, "E-META-NOTEXT"},
        Bad{"text 'a中' --unknown reject", 3, "E-TEXT-UNKNOWN"},
        Bad{"text 'a\u202Eb' --unknown reject", 3, "E-TEXT-CONTROL"},
        Bad{"text 'a\xFF'", 3, "E-TEXT-UTF8"}, Bad{"text a --language xxqq", 2, "E-TEXT-LANGUAGE"},
        Bad{"text a --vocabulary letters", 2, "letters"}, Bad{"text a --cleaner scrub", 2, "scrub"},
        Bad{"text a --vocabulary phonemes", 4, "phonemes.csv"}}) {
    const ProgramRun run = run_program(row.arguments);
    EXPECT_EQ(run.exit_code, row.exit_code) << row.arguments << "\n" << run.err;
    EXPECT_THAT(run.err, HasSubstr(row.code)) << row.arguments;
  }
}

TEST(TextCommandTest, PhonesComeFromTheSidecar) {
  const std::string file = fresh_folder() + "/phonemes.csv";
  write_text(file, "u1|HH AH\n");
  const ProgramRun run =
      run_program("text 'AH HH' --vocabulary phonemes --json --phonemes-file " + file);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["ids"], json::parse("[5,6]"));
}

}  // namespace
}  // namespace stoker::cli
