#include "stoker/observe/machine_survey.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/doubles/scratch_folder.h"

namespace stoker::observe {
namespace {

TEST(MachineSurveyTest, EveryFigureIsPositiveAndNothingIsLeftBehind) {
  ScratchFolder folder;
  const MachineSurvey survey = survey_machine(system_io(), folder.path()).take_or_raise();
  EXPECT_GE(survey.cpus.allowed, 1U);
  EXPECT_GT(survey.memory_bytes, 100U << 20U);
  EXPECT_GT(survey.copy_gb_per_s, 0.1);
  EXPECT_GT(survey.crc_gb_per_s, 0.1);
  EXPECT_GT(survey.disk_write_mb_per_s, 0.1);
  EXPECT_GT(survey.disk_read_mb_per_s, 0.1);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  for (const SurveyRow& row : survey_rows(survey)) EXPECT_FALSE(row.value.empty()) << row.name;
}

TEST(MachineSurveyTest, AFolderThatIsNotThereIsNamed) {
  const Result<MachineSurvey> survey = survey_machine(system_io(), "/nowhere/at/all");
  ASSERT_FALSE(survey.ok());
  EXPECT_NE(error_line(survey.error()).find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace stoker::observe
