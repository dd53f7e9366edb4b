#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(ConfigShowTest, JsonGivesValueAndSourceOfEachField) {
  const ProgramRun run =
      run_program("config show --json --set data.max_shapes=7", "STOKER_DATA__BATCH_SIZE=48");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json settings = json::parse(run.out)["settings"];
  EXPECT_EQ(settings["data"]["batch_size"]["value"], 48);
  EXPECT_EQ(settings["data"]["batch_size"]["source"], "environment STOKER_DATA__BATCH_SIZE");
  EXPECT_EQ(settings["data"]["max_shapes"]["source"], "--set data.max_shapes");
  EXPECT_EQ(settings["seed"]["value"], 42);
  EXPECT_EQ(settings["seed"]["source"], "default");
}

TEST(ConfigShowTest, SeedIsAGlobalOption) {
  const ProgramRun run = run_program("config show --json --seed 7");
  EXPECT_EQ(json::parse(run.out)["settings"]["seed"]["value"], 7);
}

TEST(ConfigShowTest, TakesEveryOptionAndNamesItAsTheSource) {
  const ProgramRun run = run_program("config show --json --batch-size 8 --aggressive-lr",
                                     "STOKER_DATA__BATCH_SIZE=48");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json object = json::parse(run.out);
  EXPECT_EQ(object["settings"]["data"]["batch_size"]["value"], 8);
  EXPECT_EQ(object["settings"]["data"]["batch_size"]["source"], "--batch-size");
  EXPECT_THAT(object["notices"].dump(), HasSubstr("--aggressive-lr"));
}

TEST(ConfigCheckTest, TypoNamesNearestKeyLineAndColumn) {
  const std::string file = fresh_folder() + "/c.yaml";
  write_text(file, "features:\n  hop_lenght: 256\n");
  const ProgramRun run = run_program("config check " + file);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr(file + ":2:3"));
  EXPECT_THAT(run.err, HasSubstr("hop_length"));
  const json error = json::parse(run_program("config check --json " + file).out)["error"];
  EXPECT_EQ(error["code"], "E-CONFIG-UNKNOWN");
  EXPECT_EQ(error["line"], 2);
}

TEST(ConfigCheckTest, UnfitCacheFolderIsRefused) {
  const std::string folder = fresh_folder();
  write_text(folder + "/c.yaml", "data: {path: " + folder + "}\ncache: {dir: " + folder + "}\n");
  EXPECT_EQ(run_program("config check " + folder + "/c.yaml").exit_code, 2);
}

TEST(ConfigMigrateTest, WritesANativeFileThatChecksClean) {
  const std::string folder = fresh_folder();
  write_text(folder + "/old.yaml", "data:\n  dataset_path: x\n  use_tf_native_loading: false\n");
  EXPECT_EQ(
      run_program("config migrate " + folder + "/old.yaml --out " + folder + "/new.yaml").exit_code,
      0);
  EXPECT_THAT(read_text(folder + "/new.yaml"), HasSubstr("use_native_loading: false"));
  const ProgramRun check = run_program("config check --json " + folder + "/new.yaml");
  EXPECT_EQ(json::parse(check.out)["files"][0]["from_original"], false);
}

TEST(ConfigRecommendTest, RecommendedSettingsAreMeasuredAndLoad) {
  const std::string file = fresh_folder() + "/r.yaml";
  const ProgramRun run =
      run_program("config recommend --json --gpu \"RTX 3060\" --budget-s 1 --out " + file);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json object = json::parse(run.out);
  std::map<std::string, std::string> values;
  for (const auto& entry : object["settings"]) {
    values[entry["setting"]] = entry["value"];
    EXPECT_FALSE(entry["reason"].get<std::string>().empty());
  }
  EXPECT_EQ(object["original"]["batch_size"], 8);
  EXPECT_EQ(object["original"]["accumulation"], 2);
  EXPECT_EQ(object["is_made_data"], true);
  EXPECT_GT(object["clips_per_s"]["value"], 0);
  EXPECT_GE(object["tried"].size(), 2U);
  EXPECT_EQ(run_program("config check " + file).exit_code, 0) << read_text(file);
  const ProgramRun show = run_program("config show --json --config " + file);
  const json settings = json::parse(show.out)["settings"];
  EXPECT_EQ(settings["data"]["num_workers"]["value"].dump(), values["data.num_workers"]);
  EXPECT_EQ(settings["data"]["batch_frames"]["value"].dump(), values["data.batch_frames"]);
}

TEST(ConfigRecommendTest, RefusesACardItDoesNotKnowBeforeAnythingIsMeasured) {
  const ProgramRun run = run_program("config recommend --gpu rtx409O");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err.find("making"), std::string::npos) << run.err;
}

class ReferencePageTest : public testing::TestWithParam<const char*> {};

TEST_P(ReferencePageTest, IsWhatTheProgramWrites) {
  const std::string page = GetParam();
  const ProgramRun run = run_program("config reference " + page);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(run.out == read_text(STOKER_SOURCE_FOLDER "/docs/reference/" + page + ".md"))
      << "docs/reference/" << page << ".md is out of date; build the target `reference`";
}

INSTANTIATE_TEST_SUITE_P(Pages, ReferencePageTest,
                         testing::Values("settings", "errors", "commands"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace stoker::cli
