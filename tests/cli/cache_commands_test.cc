// The cache's commands as a user runs them: what they name, what they refuse, and that looking
// changes nothing.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "tests/cli/program_run.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

std::set<std::string> tree_of(const std::string& folder) {
  std::set<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    paths.insert(entry.path().string());
  return paths;
}

class CacheCommandsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_program("data make --out " + data() + " --clips 12 --seed 7").exit_code, 0);
  }
  std::string data() const { return folder_ + "/voice"; }
  std::string cache() const {
    for (const auto& entry : fs::directory_iterator(data() + "/.stoker"))
      return entry.path().string();
    return {};
  }
  std::string first_id() const {
    const std::string list = read_text(data() + "/metadata.csv");
    return list.substr(0, list.find('|'));
  }
  static void expect_holds(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  std::string folder_ = fresh_folder();
};

TEST_F(CacheCommandsTest, LookingCreatesNothing) {
  const std::set<std::string> before = tree_of(folder_);
  for (const std::string& command :
       {"cache explain " + first_id(), std::string("cache info"), std::string("verify"),
        std::string("verify --sources"), std::string("cache gc"), std::string("cache gc --yes"),
        std::string("cache export --out " + folder_ + "/npy")}) {
    for (const std::string& place : {std::string(), " --cache " + folder_ + "/elsewhere"}) {
      run_program(command + " --data " + data() + place);
      EXPECT_EQ(tree_of(folder_), before) << command << place;
    }
  }
  const ProgramRun explained = run_program("cache explain " + first_id() + " --data " + data());
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  expect_holds(explained.out, "not in the cache yet");
}

TEST_F(CacheCommandsTest, VerifyNamesARowThatTheDataSetRejectsNow) {
  ASSERT_EQ(run_program("precompute --data " + data()).exit_code, 0);
  fs::remove(data() + "/wavs/" + first_id() + ".wav");
  const ProgramRun run = run_program("verify --data " + data());
  EXPECT_EQ(run.exit_code, 1);
  expect_holds(run.out, "12 rows = 11 accepted + 0 filtered + 1 rejected");
  expect_holds(run.out, "22 ok, 2 stale");
  expect_holds(run.err, "E-CACHE-NOROW");
  EXPECT_EQ(run_program("verify --fix --data " + data()).exit_code, 0);
  EXPECT_EQ(run_program("verify --data " + data()).exit_code, 0);
}

TEST_F(CacheCommandsTest, FixNamesTheRowsItLeavesOut) {
  ASSERT_EQ(run_program("precompute --data " + data()).exit_code, 0);
  // Whole by its header, so that indexing takes it; what it holds cannot be decoded as speech.
  const std::string path = data() + "/wavs/" + first_id() + ".wav";
  std::string wav = read_text(path);
  const std::size_t tag = wav.find("fmt ") + 8;
  wav[tag] = 3;  // 32-bit floats …
  wav[tag + 14] = 32;
  wav[tag + 12] = 4;
  const std::size_t bytes_at = wav.find("data") + 8;
  wav.resize(wav.size() - (wav.size() - bytes_at) % 4);
  wav.replace(bytes_at + 4000, 4, std::string("\x00\x00\xc0\x7f", 4));  // … one of them no number
  write_text(path, wav);
  const ProgramRun run = run_program("verify --fix --data " + data());
  expect_holds(run.err, first_id());
}

TEST_F(CacheCommandsTest, PrecomputeCuresAFlippedBitAndSaysSo) {
  ASSERT_EQ(run_program("precompute --data " + data()).exit_code, 0);
  const std::string shard = cache() + "/shard-00000.stk";
  const std::string whole = read_text(shard);
  std::string broken = whole;
  broken[4096] = static_cast<char>(broken[4096] ^ 4);
  write_text(shard, broken);
  const ProgramRun run = run_program("precompute --data " + data());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  expect_holds(run.err, "E-CACHE-CORRUPT");
  EXPECT_EQ(read_text(shard), whole);
}

TEST_F(CacheCommandsTest, ACacheInsideTheSoundIsRefused) {
  const ProgramRun run =
      run_program("precompute --data " + data() + " --cache " + data() + "/wavs/cache");
  EXPECT_EQ(run.exit_code, 2);
  expect_holds(run.err, "E-CACHE-PLACE");
  EXPECT_FALSE(fs::exists(data() + "/wavs/cache"));
}

}  // namespace
}  // namespace stoker::cli
