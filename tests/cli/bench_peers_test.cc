// The door to the race against other loaders, with a script in the place of Python.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

// A python3 that notes its arguments, writes a report into --out and ends with `exit_code`.
std::string fake_python(int exit_code) {
  const std::string folder = fresh_folder();
  const std::string path = folder + "/python3";
  write_text(path,
             "#!/bin/sh\n"
             "echo \"$@\" > " +
                 folder +
                 "/arguments\n"
                 "echo talk\n"
                 "while [ \"$1\" != --out ]; do shift; done\n"
                 "mkdir -p \"$2\"\n"
                 "cat > \"$2/peers-feed.json\" <<EOF\n"
                 "{\"complete\": true, \"rows\": [{\"name\": \"dali\", \"path\": \"cached\","
                 " \"clips_per_s\": 9000.0, \"median_clips_per_s\": 8000.0}],"
                 " \"tuning\": [], \"resume\": [], \"damage\": [], \"not_run\": []}\n"
                 "EOF\n"
                 "exit " +
                 std::to_string(exit_code) + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return folder;
}

// Stands in the source tree, wherever the program was built.
std::string path_with(const std::string& folder) {
  return "cd '" STOKER_SOURCE_FOLDER "' && PATH=" + folder;
}

TEST(BenchPeersTest, HandsTheReportOnAndKeepsTheDriversTalkOffStdout) {
  const std::string python = fake_python(0);
  const ProgramRun run = run_program("bench peers --rounds 7 --json --out " + python + "/out",
                                     path_with(python + ":/usr/bin:/bin"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report.at("rows").at(0).at("name"), "dali");
  EXPECT_NE(run.err.find("talk"), std::string::npos);
  EXPECT_NE(read_text(python + "/arguments").find("-m bench.peers.feed"), std::string::npos);
  EXPECT_NE(read_text(python + "/arguments").find("--rounds 7"), std::string::npos);
}

TEST(BenchPeersTest, EndsWithOneWhenTheRaceIsIncomplete) {
  const std::string python = fake_python(1);
  const ProgramRun run =
      run_program("bench peers --out " + python + "/out", path_with(python + ":/usr/bin:/bin"));
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.out.find("9000 clips/s best, 8000 median"), std::string::npos) << run.out;
}

TEST(BenchPeersTest, SaysWhenThereIsNoPython) {
  const std::string empty = fresh_folder();
  const ProgramRun run = run_program("bench peers --out " + empty + "/out", path_with(empty));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("E-BENCH-PEERS"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("python3 on PATH"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace stoker::cli
