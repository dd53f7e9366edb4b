// `stoker bench train` from outside, with a library that only answers in the place of the trainer.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kFake = "STOKER_TRAIN_LIBRARY=" STOKER_FAKE_LIBRARY;

class BenchTrainCommandTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = fresh_folder();
    const ProgramRun made =
        run_program("data make --out " + folder_ + "/voice --clips 8 --lengths uniform:1-2");
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  static std::string line(const std::string& more) {
    return "bench train --data " + folder_ + "/voice --batch-size 4 --seconds 1 " + more;
  }
  inline static std::string folder_;
};

TEST_F(BenchTrainCommandTest, TableComparesBothLoaders) {
  const ProgramRun run = run_program(line("--html " + folder_ + "/t.html"), kFake);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("naive files"));
  EXPECT_THAT(run.out, HasSubstr("native cached"));
  EXPECT_THAT(run.out, HasSubstr("97.5"));
  EXPECT_THAT(run.out, HasSubstr("8.00x"));
  EXPECT_THAT(read_text(folder_ + "/t.html"), HasSubstr("native cached: time between steps"));
}

TEST_F(BenchTrainCommandTest, SettingsOfModelAndFeedReachTheTrainer) {
  const ProgramRun run = run_program(
      line("--loader native --model-size tiny --precision fp32 --warmup 0.5 --json"), kFake);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json report = json::parse(run.out);
  const json& request = report["rows"][0]["request"];
  EXPECT_EQ(request["settings"]["training.model_size"], "tiny");
  EXPECT_EQ(request["settings"]["training.precision"], "fp32");
  EXPECT_EQ(request["settings"]["data.batch_size"], 4);
  EXPECT_EQ(request["seconds"], 1);
  EXPECT_EQ(request["warmup_s"], 0.5);
  EXPECT_EQ(request["mode"], "both");
  EXPECT_EQ(report["frames_per_s"], 8000) << "one row is at the top, too";
  EXPECT_EQ(report["rows"][0]["per_step"], nullptr);
}

TEST_F(BenchTrainCommandTest, GridGivesARowForEveryLoaderAndValue) {
  const ProgramRun run = run_program(line("--grid data.batch_size=2,4 --per-step --json"), kFake);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json rows = json::parse(run.out)["rows"];
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[3]["changed"], json::array({"data.batch_size=4"}));
  EXPECT_EQ(rows[3]["speed_up"], 8.0);
  EXPECT_EQ(rows[3]["per_step"]["interval_ms"].size(), 4U);
}

TEST_F(BenchTrainCommandTest, SlowerThanTheKeptRunIsExitCodeOne) {
  const std::string kept = folder_ + "/kept.json";
  const auto keep = [&kept](double rate) {
    write_text(kept, json{{"rows",
                           {{{"loader", "native"},
                             {"path", "cached"},
                             {"model", "stoker"},
                             {"changed", json::array()},
                             {"frames_per_s", rate}}}}}
                         .dump());
  };
  keep(8050);
  const ProgramRun same = run_program(line("--loader native --against " + kept), kFake);
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("-0.6 % true frames/s"));
  keep(9000);
  const ProgramRun slower = run_program(line("--loader native --json --against " + kept), kFake);
  EXPECT_EQ(slower.exit_code, 1);
  EXPECT_EQ(json::parse(slower.out)["against"][0]["is_below"], true);
  EXPECT_EQ(run_program(line("--loader native --bar 0.8 --against " + kept), kFake).exit_code, 0);
}

TEST_F(BenchTrainCommandTest, KeptReportIsReadBeforeAnythingIsMeasured) {
  write_text(folder_ + "/broken.json", "{");
  const ProgramRun broken =
      run_program(line("--loader native --against " + folder_ + "/broken.json"), kFake);
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, HasSubstr("broken.json"));
  EXPECT_THAT(broken.err, Not(HasSubstr("measuring")));
}

TEST_F(BenchTrainCommandTest, OneRowCanBeKept) {
  const std::string keep = " --keep " + folder_ + "/run --json";
  const ProgramRun one = run_program(line("--loader native" + keep), kFake);
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(json::parse(one.out)["rows"][0]["request"]["keep"], folder_ + "/run");
  const ProgramRun two = run_program(line(keep), kFake);
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.err, HasSubstr("2 rows"));
}

TEST_F(BenchTrainCommandTest, WithoutAModelNoLibraryIsNeeded) {
  const ProgramRun run = run_program(line("--model none --loader native --seconds 0.1 --json"),
                                     "STOKER_TRAIN_LIBRARY=/nowhere/lib.so");
  EXPECT_EQ(run.exit_code, 2) << "--seconds twice";
  const ProgramRun alone =
      run_program("bench train --data " + folder_ +
                      "/voice --batch-size 4 --model none --loader native --seconds 0.2 --json",
                  "STOKER_TRAIN_LIBRARY=/nowhere/lib.so");
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_GT(json::parse(alone.out)["frames_per_s"], 0);
}

TEST_F(BenchTrainCommandTest, WhatDoesNotExistIsRefused) {
  EXPECT_EQ(run_program(line("--loader quick"), kFake).exit_code, 2);
  EXPECT_EQ(run_program(line("--path nowhere"), kFake).exit_code, 2);
  EXPECT_EQ(run_program(line("--model big"), kFake).exit_code, 2);
  EXPECT_EQ(run_program(line("--minutes 1"), kFake).exit_code, 2);
}

}  // namespace
}  // namespace stoker::cli
