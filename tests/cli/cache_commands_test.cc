// The cache's commands as a user runs them: what they name, what they refuse, and that looking
// changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
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
        std::string("verify --sources"), std::string("cache list"), std::string("cache gc"),
        std::string("cache gc --yes"), std::string("cache export --out " + folder_ + "/npy")}) {
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

TEST_F(CacheCommandsTest, VerifyNamesTheUtterancesAndKeepsALongListInAFile) {
  ASSERT_EQ(run_program("precompute --data " + data()).exit_code, 0);
  const std::string list = cache() + "/verify.jsonl";
  std::string rows = read_text(data() + "/metadata.csv");
  write_text(data() + "/metadata.csv", rows.substr(rows.find('\n') + 1));
  ProgramRun run = run_program("verify --data " + data());
  expect_holds(run.out, "stale    " + rows.substr(0, rows.find('|')) +
                            " (mel, tokens): the data set has no utterance of this id\n");
  EXPECT_FALSE(fs::exists(list)) << "one line needs no file";

  const std::string other = " --data " + data() + " --cache " + cache() + " --add-blank";
  run = run_program("verify" + other);
  EXPECT_EQ(run.exit_code, 1);
  expect_holds(run.out, "and 2 more\n");
  expect_holds(run.out, "all of them: " + list);
  const std::string lines = read_text(list);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 12);
  expect_holds(lines, R"("state":"stale","why":"made with other settings","kinds":["tokens"]})");
  run = run_program("verify --json --list " + folder_ + "/bad.jsonl" + other);
  EXPECT_EQ(read_text(folder_ + "/bad.jsonl"), lines);
  expect_holds(run.out, R"("num_utterances":12)");
  expect_holds(run.out, R"("list":")" + folder_ + "/bad.jsonl\"");

  write_text(data() + "/metadata.csv", rows);
  EXPECT_EQ(run_program("verify --data " + data()).exit_code, 0);
  EXPECT_FALSE(fs::exists(list)) << "a list of what is no longer so";
}

// Two caches, the second with the preset tacotron2 and three days old.
class TwoCachesTest : public CacheCommandsTest {
 protected:
  void SetUp() override {
    CacheCommandsTest::SetUp();
    ASSERT_EQ(run_program("precompute --data " + data()).exit_code, 0);
    used_ = cache();
    ASSERT_EQ(run_program("precompute --preset tacotron2 --data " + data()).exit_code, 0);
    for (const auto& entry : fs::directory_iterator(data() + "/.stoker"))
      if (entry.path() != used_) other_ = entry.path().string();
    fs::last_write_time(other_ + "/manifest.json",
                        fs::file_time_type::clock::now() - std::chrono::hours(24 * 3 + 1));
  }
  std::string used_, other_;
};

TEST_F(TwoCachesTest, ListShowsSettingsSizeAgeAndUse) {
  const ProgramRun run = run_program("cache list --data " + data());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::size_t second = run.out.find("\nother settings") + 1;
  const std::string first_line = run.out.substr(0, run.out.find('\n'));
  EXPECT_TRUE(first_line.starts_with("used ")) << run.out;
  expect_holds(first_line, "just now");
  expect_holds(first_line, used_);
  expect_holds(run.out.substr(second), "KiB   3 days ago  " + other_);
  expect_holds(run.out.substr(second), "    features.preset tacotron2 (here hifigan)\n");

  const ProgramRun turned = run_program("cache list --json --preset tacotron2 --data " + data());
  expect_holds(turned.out, R"({"path":")" + other_ + R"(","use":"used","used":true)");
  expect_holds(turned.out,
               R"("name":"features.preset","have":"\"hifigan\"","want":"\"tacotron2\"")");
}

TEST_F(TwoCachesTest, ListNamesACacheOfAnotherListAndOneElsewhere) {
  ASSERT_EQ(run_program("precompute --split train --data " + data()).exit_code, 0);
  const std::string elsewhere = folder_ + "/elsewhere";
  ASSERT_EQ(run_program("precompute --cache " + elsewhere + " --data " + data()).exit_code, 0);
  const ProgramRun run = run_program("cache list --cache " + elsewhere + " --data " + data());
  expect_holds(run.out, elsewhere + "\n");
  expect_holds(run.out, "other list ");
  expect_holds(run.out, "    utterances of split=train");
}

TEST_F(TwoCachesTest, GcNamesWhatTheseSettingsDoNotUseAndRefusesWithoutAnAnswer) {
  for (const std::string& json : {std::string(), std::string(" --json")}) {
    const ProgramRun run = run_program("cache gc --data " + data() + json + " < /dev/null");
    EXPECT_EQ(run.exit_code, 2);
    expect_holds(run.out, "made with other settings: features.preset tacotron2 (here hifigan)");
    EXPECT_EQ(run.out.find(used_), std::string::npos) << run.out;
    expect_holds(run.err, "E-USAGE");
    expect_holds(run.err, "nothing was removed");
    expect_holds(run.err, "with --yes removes");
    EXPECT_TRUE(fs::exists(other_));
  }
  const ProgramRun run = run_program("cache gc --yes --data " + data());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  expect_holds(run.out, "removed 1 (");
  EXPECT_FALSE(fs::exists(other_));
  EXPECT_TRUE(fs::exists(used_));
  EXPECT_EQ(run_program("cache gc --data " + data()).exit_code, 0) << "nothing is left to ask";
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
