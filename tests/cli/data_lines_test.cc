// Speakers and languages as a user meets them: said by every command that reads a data set, and
// right without a setting.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

class VoicesTest : public testing::Test {
 protected:
  void make(const std::string& options) const {
    const ProgramRun run = run_program("data make --clips 8 --seed 7 --out " + data() + options);
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  std::string data() const { return folder_ + "/voice"; }
  std::vector<std::string> commands() const {
    return {"data check " + data(), "precompute --data " + data(),
            "stream --device cpu --data " + data()};
  }
  static void expect_holds(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  std::string folder_ = fresh_folder();
};

TEST_F(VoicesTest, MadeSpeakersAndLanguageAreKnownToEveryCommand) {
  make(" --speakers 4 --language fa");
  for (const std::string& command : commands()) {
    const ProgramRun run = run_program(command);
    EXPECT_EQ(run.exit_code, 0) << command << ": " << run.err;
    expect_holds(run.out + run.err, "4 speakers, language fa");
  }
  const ProgramRun info = run_program("data info " + data());
  expect_holds(info.out, "speakers  4");
  expect_holds(info.out, "language  fa: 8 utterances");
}

TEST_F(VoicesTest, AnOldFileThatSwitchesSpeakersOffOrOnKeepsItsMeaning) {
  make(" --speakers 2");
  fs::remove(data() + "/stoker.json");
  const std::string config = folder_ + "/old.yaml";
  write_text(config, "data: {enable_multispeaker: true}\n");
  expect_holds(run_program("data check " + data() + " --config " + config).out, "2 speakers");
  write_text(data() + "/stoker.json", R"({"speaker_id_pattern": "^(spk[0-9]+)_"})");
  expect_holds(run_program("data check " + data()).out, "2 speakers");
  write_text(config, "data: {enable_multispeaker: false}\n");
  expect_holds(run_program("data check " + data() + " --config " + config).out, "1 speaker,");
}

TEST_F(VoicesTest, TextsOfAnotherScriptEndTheWorkWithTheLanguageToGive) {
  make(" --language fa");
  fs::remove(data() + "/stoker.json");
  for (const std::string& command : commands()) {
    const ProgramRun run = run_program(command);
    EXPECT_EQ(run.exit_code, 3) << command << ": " << run.out;
    expect_holds(run.err, "E-TEXT-MISFIT");
    expect_holds(run.err, "--language fa");
    EXPECT_EQ(run_program(command + " --set text.max_unknown_fraction=1").exit_code, 0) << command;
    const ProgramRun cured = run_program(command + " --language fa");
    EXPECT_EQ(cured.exit_code, 0) << command << ": " << cured.err;
  }
}

}  // namespace
}  // namespace stoker::cli
