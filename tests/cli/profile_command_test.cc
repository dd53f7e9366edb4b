// `stoker profile` as a user runs it: a feed, the records of a training, and what it refuses.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "stoker/base/json.h"
#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

class ProfileCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_program("data make --out " + data() + " --clips 24 --seed 7").exit_code, 0);
  }
  std::string data() const { return folder_ + "/voice"; }
  ProgramRun profile(const std::string& arguments) const {
    return run_program("profile --device cpu --batch-size 4 --preprocessing-mode runtime --data " +
                       data() + " " + arguments);
  }

  std::string folder_ = fresh_folder();
};

TEST_F(ProfileCommandTest, PrintsEveryStageTheWordAndWhatTheNumberIsMadeOf) {
  const ProgramRun run = profile("--batches 20");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* part : {"working", "waits: input", "mel        worker", "step       consumer",
                           "loading    good", "made of    filling a batch takes"})
    EXPECT_NE(run.out.find(part), std::string::npos) << part << "\n" << run.out;
}

TEST_F(ProfileCommandTest, TheJsonHasStagesAndTimes) {
  const ProgramRun run = profile("--json --batches 20 --step-ms 3 --trace " + folder_ + "/t.json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::optional<Json> json = Json::parse(run.out);
  ASSERT_TRUE(json.has_value()) << run.out;
  EXPECT_EQ(json->at("batches").number(), 20);
  EXPECT_GE(json->at("compute_ms").number(), 2.9);
  EXPECT_GE(json->at("batch_ms").at("max").number(), json->at("batch_ms").at("min").number());
  EXPECT_EQ(json->at("verdict").text(), "good");
  const Json& mel = json->at("stages").elements().at(4);
  EXPECT_EQ(mel.at("name").text(), "mel");
  EXPECT_GT(mel.at("working_ms").number() + mel.at("waiting_for_core_ms").number(), 0);
  EXPECT_EQ(json->at("trace_batches").number(), 20);
  EXPECT_TRUE(json->at("machine").contains("cpu"));
  std::ifstream file(folder_ + "/t.json");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(Json::parse(text).has_value());
}

TEST_F(ProfileCommandTest, RecordsThatAreOffAreKeptForTheProfile) {
  const ProgramRun run = profile("--json --batches 3 --set observe.records=false");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out).value().at("batches").number(), 3);
}

TEST_F(ProfileCommandTest, RefusesWhatCannotBeReadOrWritten) {
  const ProgramRun none = run_program("profile --run " + folder_);
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("error[E-RECORDS-NONE]"), std::string::npos) << none.err;
  const ProgramRun folder = profile("--batches 3 --trace " + folder_);
  EXPECT_NE(folder.exit_code, 0);
  EXPECT_NE(folder.err.find("E-IO-KIND"), std::string::npos) << folder.err;
  EXPECT_EQ(profile("--batches 0").exit_code, 2);
  EXPECT_EQ(profile("--run x --step-ms 3").exit_code, 2);
}

}  // namespace
}  // namespace stoker::cli
