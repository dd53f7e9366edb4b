// `stoker selftest` as a user runs it, with a library that only answers in the place of the
// trainer.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json check_named(const json& report, const std::string& name) {
  for (const json& each : report["checks"])
    if (each["name"] == name) return each;
  return nullptr;
}

TEST(SelftestCommandTest, OneLineACheckWithItsFigure) {
  const ProgramRun run = run_program("selftest --json");
  const json report = json::parse(run.out);
  EXPECT_EQ(run.exit_code, report["failed"] == 0 ? 0 : 1);
  for (const char* name : {"settings", "scratch folder", "decode", "resample", "mel", "text",
                           "data set", "cache", "workers", "resume"}) {
    const json check = check_named(report, name);
    ASSERT_FALSE(check.is_null()) << name;
    EXPECT_EQ(check["ok"], true) << name << ": " << check["figure"];
  }
  EXPECT_TRUE(check_named(report, "stability").is_object());
  EXPECT_TRUE(check_named(report, "gpu").is_null()) << "only with --gpu";
}

TEST(SelftestCommandTest, AFolderThatCannotBeWrittenIsExitCodeOneWithTheCure) {
  const ProgramRun run = run_program("selftest", "TMPDIR=/proc");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("FAIL scratch folder"));
  EXPECT_THAT(run.out, HasSubstr("help: set TMPDIR to a folder that this user may write"));
  EXPECT_THAT(run.out, HasSubstr("ok   mel")) << "the others run all the same";
}

TEST(SelftestCommandTest, WrongSettingsAndAMissingTrainerAreNamed) {
  const ProgramRun run = run_program("selftest --json --set data.num_workers=many",
                                     "STOKER_TRAIN_LIBRARY=/nowhere/lib.so");
  EXPECT_EQ(run.exit_code, 1);
  const json report = json::parse(run.out);
  EXPECT_THAT(check_named(report, "settings")["figure"].get<std::string>(),
              HasSubstr("data.num_workers"));
  EXPECT_THAT(check_named(report, "trainer")["figure"].get<std::string>(),
              HasSubstr("/nowhere/lib.so"));
  EXPECT_EQ(check_named(report, "text")["ok"], true);
}

// E-SELFTEST is what a check fails with that found another value than it expected.
TEST(SelftestCommandTest, ATrainerThatDoesSomethingElseFails) {
  const ProgramRun run = run_program("selftest", "STOKER_TRAIN_LIBRARY=" STOKER_FAKE_LIBRARY);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("expected 2 steps, found 3")) << run.err;
  EXPECT_THAT(run.out, HasSubstr("build the trainer and the program from the same source"));
  EXPECT_THAT(run.out, Not(HasSubstr("gpu")));
}

}  // namespace
}  // namespace stoker::cli
