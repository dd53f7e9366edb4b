// `stoker bench peers` with a script in the place of Python.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

// A source tree that holds nothing but the driver's name.
std::string empty_tree() {
  const std::string tree = fresh_folder();
  std::filesystem::create_directories(tree + "/bench/peers");
  write_text(tree + "/bench/peers/feed.py", "");
  return tree;
}

// Such a tree with a Python that notes its arguments, writes a report into --out and ends with
// `exit_code`.
std::string tree_with_python(int exit_code) {
  const std::string tree = empty_tree();
  const std::string path = tree + "/.venv/bin/python3";
  std::filesystem::create_directories(tree + "/.venv/bin");
  write_text(path, R"(#!/bin/sh
echo "$@" > arguments
echo talk
while [ "$1" != --out ]; do shift; done
mkdir -p "$2"
cat > "$2/peers-feed.json" <<EOF
{"complete": true, "tuning": [], "resume": [], "damage": [], "not_run": [],
 "rows": [{"name": "dali", "path": "cached", "clips_per_s": 9000.0, "median_clips_per_s": 8000.0}]}
EOF
exit )" + std::to_string(exit_code) +
                       "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return tree;
}

std::string run_from(const std::string& tree) { return "cd '" + tree + "' &&"; }

TEST(BenchPeersTest, HandsTheReportOnAndKeepsTheDriversTalkOffStdout) {
  const std::string tree = tree_with_python(0);
  const ProgramRun run = run_program("bench peers --rounds 7 --json", run_from(tree));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report.at("rows").at(0).at("name"), "dali");
  EXPECT_NE(run.err.find("talk"), std::string::npos);
  const std::string arguments = read_text(tree + "/arguments");
  EXPECT_NE(arguments.find("-m bench.peers.feed"), std::string::npos) << arguments;
  EXPECT_NE(arguments.find("--rounds 7"), std::string::npos) << arguments;
  EXPECT_TRUE(std::filesystem::exists(tree + "/bench/results/peers-feed.json"));
}

TEST(BenchPeersTest, EndsWithOneWhenTheRaceIsIncomplete) {
  const std::string tree = tree_with_python(1);
  const ProgramRun run = run_program("bench peers --out " + tree + "/out", run_from(tree));
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.out.find("9000 clips/s best, 8000 median"), std::string::npos) << run.out;
}

TEST(BenchPeersTest, KeepsASmokeTestAwayFromTheFiguresOnRecord) {
  const std::string tree = tree_with_python(0);
  const ProgramRun run = run_program("bench peers --quick", run_from(tree));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_FALSE(std::filesystem::exists(tree + "/bench/results"));
}

TEST(BenchPeersTest, SaysWhenThereIsNoPython) {
  const std::string tree = empty_tree();
  const ProgramRun run = run_program("bench peers", run_from(tree) + " PATH=" + tree);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("E-BENCH-PEERS"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("python3 on PATH"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace stoker::cli
