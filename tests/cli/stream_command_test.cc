// `stoker stream` as a user goes on from a saved state.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

class StreamCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_program("data make --out " + data() + " --clips 12 --seed 7").exit_code, 0);
  }
  std::string data() const { return folder_ + "/voice"; }
  static void expect_holds(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  std::string folder_ = fresh_folder();
};

TEST_F(StreamCommandTest, AStateNamesTheSettingThatChanged) {
  const std::string stream = "stream --device cpu --preprocessing-mode runtime --batches 1 --data ";
  const std::string state = folder_ + "/state.json";
  ASSERT_EQ(run_program(stream + data() + " --batch-size 4 --state-out " + state).exit_code, 0);
  ProgramRun run = run_program(stream + data() + " --batch-size 5 --state-in " + state);
  EXPECT_EQ(run.exit_code, 3);
  expect_holds(run.err, "since the state was saved: data.batch_size 4 → 5");
  expect_holds(run.err, "help: --set data.batch_size=4 goes on");
  fs::remove(state + ".settings");
  run = run_program(stream + data() + " --batch-size 5 --state-in " + state);
  expect_holds(run.err, "found order settings ");
  run = run_program(stream + data() + " --batch-size 4 --state-in " + state);
  EXPECT_EQ(run.exit_code, 0) << "a state goes on without its settings\n" << run.err;
}

TEST_F(StreamCommandTest, AFeedNamesTheCacheThatItWrites) {
  const std::string stream = "stream --device cpu --batches 1 --data " + data();
  EXPECT_EQ(run_program(stream + " --preprocessing-mode runtime").err.find("cache "),
            std::string::npos);
  EXPECT_FALSE(fs::exists(data() + "/.stoker"));
  expect_holds(run_program(stream).err,
               "cache     " + fs::canonical(data()).string() + "/.stoker/");
  ASSERT_EQ(run_program("precompute " + data()).exit_code, 0);
  EXPECT_EQ(run_program(stream).err.find("cache "), std::string::npos)
      << "nothing is left to write";
}

TEST_F(StreamCommandTest, AStateAndABatchNumberTogetherAreRefused) {
  const ProgramRun run = run_program("stream --state-in s.json --from-batch 0 --data " + data());
  EXPECT_EQ(run.exit_code, 2);
  expect_holds(run.err, "E-USAGE");
  expect_holds(run.err, "both: s.json and 0");
  expect_holds(run.err, "leave out --from-batch");
}

}  // namespace
}  // namespace stoker::cli
