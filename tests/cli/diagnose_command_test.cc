// `stoker diagnose` as a user runs it: a feed that starves its consumer, one that does not, and
// records that a training left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "stoker/base/json.h"
#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

class DiagnoseCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_program("data make --out " + data() + " --clips 60 --seed 7").exit_code, 0);
  }
  std::string data() const { return folder_ + "/voice"; }
  ProgramRun diagnose(const std::string& arguments) const {
    return run_program("diagnose --json --device cpu --batch-size 8 --data " + data() + " " +
                       arguments);
  }
  static Json json_of(const ProgramRun& run) {
    const std::optional<Json> json = Json::parse(run.out);
    EXPECT_TRUE(json.has_value()) << run.out << run.err;
    return json.value_or(Json::object());
  }

  std::string folder_ = fresh_folder();
};

// One worker makes a batch of mels in milliseconds; the consumer wants one every 50 us.
TEST_F(DiagnoseCommandTest, AStarvedConsumerHearsWhyAndWhatWouldHelp) {
  const std::string page = folder_ + "/page.html";
  const ProgramRun run = diagnose(
      "--preprocessing-mode runtime --num-workers 1 --set data.auto_tune_performance=false "
      "--step-ms 0.05 --budget-s 2 --report " +
      page);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const Json json = json_of(run);
  EXPECT_EQ(json.at("verdict").text(), "starved");
  EXPECT_GT(json.at("stall_share").number(), 0.5);
  ASSERT_FALSE(json.at("causes").elements().empty());
  EXPECT_EQ(json.at("cause").text(), json.at("causes").elements().front().at("id").text());
  ASSERT_FALSE(json.at("cures").elements().empty());
  // Which one brings more depends on who else uses the machine meanwhile.
  bool has_precompute = false;
  for (const Json& cure : json.at("cures").elements()) {
    EXPECT_GT(cure.at("predicted_gain").number(), 1);
    EXPECT_LE(cure.at("predicted_low").number(), cure.at("predicted_gain").number());
    has_precompute |= cure.at("command").text() == "stoker precompute --data " + data();
  }
  EXPECT_TRUE(has_precompute) << run.out;
  bool has_mel = false;
  for (const Json& stage : json.at("stages").elements())
    has_mel |= stage.at("name").text() == "mel";
  EXPECT_TRUE(has_mel);
  EXPECT_TRUE(json.at("oscillation").contains("period_batches"));
  EXPECT_GT(fs::file_size(page), 2000U);
}

TEST_F(DiagnoseCommandTest, AFedConsumerHearsHowMuchMoreThereIs) {
  ASSERT_EQ(run_program("precompute " + data()).exit_code, 0);
  const ProgramRun run = diagnose("--step-ms 20 --budget-s 2");
  EXPECT_EQ(run.exit_code, 0) << run.out;
  const Json json = json_of(run);
  EXPECT_NE(json.at("verdict").text(), "starved");
  EXPECT_GT(json.at("supply_ratio").number(), 3);
  EXPECT_NE(json.at("sentence").text().find("The feed is not your bottleneck; it could bring"),
            std::string::npos);
}

TEST_F(DiagnoseCommandTest, WithoutAStepOnlyTheSupplyIsKnown) {
  const ProgramRun run = diagnose("--preprocessing-mode runtime --budget-s 1");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json_of(run).at("verdict").text(), "supply");
}

TEST_F(DiagnoseCommandTest, AFolderWithoutRecordsIsNamed) {
  const ProgramRun run = run_program("diagnose --run " + folder_);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("error[E-RECORDS-NONE]"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("expected records.ring"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("help: give the --checkpoint-dir"), std::string::npos) << run.err;
}

// A process like a training's: it runs until it is told to end.
class RunningFeed {
 public:
  explicit RunningFeed(const std::string& arguments, const std::string& runtime) {
    ::posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const std::string command =
        "exec env XDG_RUNTIME_DIR=" + runtime + " " STOKER_PROGRAM " " + arguments;
    const char* const words[] = {"sh", "-c", command.c_str(), nullptr};
    ::posix_spawn(&pid_, "/bin/sh", &actions, nullptr, const_cast<char* const*>(words), environ);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ~RunningFeed() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  RunningFeed(const RunningFeed&) = delete;
  RunningFeed& operator=(const RunningFeed&) = delete;
  int pid() const { return pid_; }

 private:
  ::pid_t pid_ = 0;
};

// The feed runs for as long as it is watched; its ring is there once a batch has been handed out.
TEST_F(DiagnoseCommandTest, ARunningProcessIsReadByItsNumber) {
  const std::string runtime = folder_ + "/runtime";
  fs::create_directory(runtime);
  const RunningFeed feed(
      "bench feed --device cpu --path files --batch-size 8 --seconds 300 " + data(), runtime);
  ProgramRun run;
  for (int i = 0; i < 600; ++i) {
    run = run_program("diagnose --json --pid " + std::to_string(feed.pid()),
                      "XDG_RUNTIME_DIR=" + runtime);
    if (run.exit_code < 2 && json_of(run).at("batches").number() > 20) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ASSERT_LT(run.exit_code, 2) << run.err;
  EXPECT_GT(json_of(run).at("batches").number(), 20);
  const ProgramRun none = run_program("diagnose --pid 1", "XDG_RUNTIME_DIR=" + runtime);
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("E-RECORDS-PROCESS"), std::string::npos) << none.err;
  EXPECT_NE(none.err.find("with records: " + std::to_string(feed.pid())), std::string::npos)
      << none.err;
}

TEST_F(DiagnoseCommandTest, AProcessThatIsGoneHasNoRecords) {
  const ProgramRun run = run_program("diagnose --pid 999999999", "XDG_RUNTIME_DIR=" + folder_);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("no process 999999999"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace stoker::cli
