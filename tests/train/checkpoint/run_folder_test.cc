// A run's folder: lock, names, what is kept, what is found again.
#include "stoker/train/checkpoint/run_folder.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <cmath>
#include <filesystem>
#include <limits>

#include "stoker/base/digest/digest.h"
#include "stoker/train/errors.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/doubles/write_list_io.h"
#include "tests/train/checkpoint/small_checkpoint.h"

namespace stoker::train {
namespace {

const std::string kStep20 = "/run/checkpoints/step-00000020";

void save_two(Io& io) {
  ASSERT_TRUE(
      open_and_save(io, "/run", {small_checkpoint(10, 0.5), small_checkpoint(20, 0.9)}).ok());
}

// state.json with a right digest over `rest`.
std::string sealed(const std::string& rest) {
  return R"({"digest":")" + digest_of(rest).hex() + rest;
}

TEST(RunFolderTest, NamesHaveEightDigitsOrMore) {
  EXPECT_EQ(checkpoint_name(1200), "step-00001200");
  EXPECT_EQ(checkpoint_name(123456789012), "step-123456789012");
  EXPECT_EQ(parse_checkpoint_name("step-123456789012")->step, 123456789012U);
  EXPECT_TRUE(parse_checkpoint_name("step-00001200.old")->is_old);
  for (const char* other :
       {"step-1200", "step-000000001", "step-0000120a", "step-", "step-+0000001",
        "step-00001200.tmp.0123456789abcdef", "step-99999999999999999999"})
    EXPECT_FALSE(parse_checkpoint_name(other)) << other;
}

TEST(RunFolderTest, WhatIsSavedIsLoadedByAnyOfItsPaths) {
  const ScratchFolder scratch;
  const std::string run = scratch / "a/b/run";
  Checkpoint saved = small_checkpoint(20, 0.1 + 0.2);
  saved.state["seed"] = ~std::uint64_t{0};
  ASSERT_TRUE(open_and_save(system_io(), run, {small_checkpoint(10, 0.2), saved}).ok());
  for (const char* inside : {"", "/", "/checkpoints", "/checkpoints/", "/checkpoints/step-00000020",
                             "/checkpoints/step-00000020/"}) {
    const Result<FoundCheckpoint> found = load_checkpoint(system_io(), run + inside);
    ASSERT_TRUE(found.ok()) << error_line(found.error());
    EXPECT_TRUE(is_same(found->checkpoint, saved)) << inside;
    EXPECT_EQ(found->folder, run + "/checkpoints/step-00000020");
    EXPECT_TRUE(found->passed_over.empty());
  }
  std::filesystem::rename(run + "/checkpoints/step-00000010", scratch / "copy");
  EXPECT_EQ(load_checkpoint(system_io(), scratch / "copy")->checkpoint.step, 10U);
}

TEST(RunFolderTest, SpeakingReadsTheAveragesAlone) {
  WriteListIo disk;
  save_two(disk);
  FaultIo io(disk);
  const Result<FoundCheckpoint> found = load_checkpoint(io, "/run", CheckpointParts::kAverages);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->checkpoint.ema, small_checkpoint(20, 0.9).ema);
  EXPECT_TRUE(found->checkpoint.model.tensors.empty());
  EXPECT_EQ(io.bytes_read_by_path().size(), 2U);
}

TEST(RunFolderTest, AFolderWithoutCheckpointsSaysSo) {
  const ScratchFolder scratch;
  scratch.put("run/notes", "x");
  for (const char* path : {"run", "nowhere", "run/notes"}) {
    const Result<FoundCheckpoint> found = load_checkpoint(system_io(), scratch / path);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code->name, "E-CHECKPOINT-MISSING") << path;
  }
}

TEST(RunFolderTest, ASecondProcessIsRefusedUntilTheFirstOneDies) {
  const ScratchFolder scratch;
  const std::string run = scratch / "run";
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Result<RunFolder> held = RunFolder::open(system_io(), run);
    if (write(ready[1], held ? "y" : "n", 1) == 1) pause();
    _exit(1);
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  const Result<RunFolder> second = RunFolder::open(system_io(), run);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code->name, "E-TRAIN-LOCKED");
  EXPECT_EQ(second.error().code->exit, ExitCode::kLockHeld);
  EXPECT_NE(second.error().found.find(fmt::format("pid {} on host", child)), std::string::npos);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(RunFolder::open(system_io(), run).ok());
  close(ready[0]);
  close(ready[1]);
}

TEST(RunFolderTest, AFileSystemWithoutLocksIsRefused) {
  WriteListIo disk;
  FaultIo io(disk);
  io.plan({.calls = {IoCall::kLock}, .repeat = Fault::Repeat::kFromThenOn, .error_number = ENOLCK});
  const Result<RunFolder> folder = RunFolder::open(io, "/run");
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code, &kTrainLocked);
  EXPECT_NE(help_line(folder.error()).find("--checkpoint-dir"), std::string::npos);
}

struct KeepCase {
  const char* why;
  std::vector<CheckpointMark> marks;
  std::uint64_t saved;
  std::uint64_t num_last;
  std::set<std::uint64_t> kept;
};

TEST(RunFolderTest, TheNewestAndTheBestAreKept) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const std::vector<KeepCase> cases{
      {"alone", {{1, 0.5, true}}, 1, 5, {1}},
      {"none asked for", {{1, 0.9, false}, {2, 0.5, false}}, 2, 0, {2}},
      {"best is old", {{1, 0.1, true}, {2, 0.5, true}, {3, 0.4, true}}, 3, 1, {1, 3}},
      {"best among the last", {{1, 0.9, true}, {2, 0.1, true}, {3, 0.4, true}}, 3, 2, {2, 3}},
      {"evaluated beats lower", {{1, 0.9, true}, {2, 0.1, false}, {3, 0.4, false}}, 3, 1, {1, 3}},
      {"none evaluated", {{1, 0.9, false}, {2, 0.1, false}, {3, 0.4, false}}, 3, 1, {2, 3}},
      {"newer of equal", {{1, 0.1, true}, {2, 0.1, true}, {3, 0.4, true}}, 3, 1, {2, 3}},
      {"no number is best", {{1, kNan, true}, {2, kInfinite, true}, {3, 0.4, true}}, 3, 1, {3}},
      {"all no number", {{1, kNan, true}, {2, kNan, true}}, 2, 1, {2}},
      {"negative", {{1, -2, true}, {2, -1, true}}, 2, 1, {1, 2}},
      {"saved below others", {{5, 0.9, true}, {7, 0.1, true}, {9, 0.5, true}}, 5, 1, {5, 7, 9}},
      {"more than there are", {{1, 0.5, true}, {2, 0.6, true}}, 2, ~std::uint64_t{0}, {1, 2}},
  };
  for (const KeepCase& keep : cases)
    EXPECT_EQ(steps_to_keep(keep.marks, keep.saved, {keep.num_last}), keep.kept) << keep.why;
}

TEST(RunFolderTest, ALongRunHoldsTheLastAndTheBest) {
  WriteListIo disk;
  RunFolder folder = RunFolder::open(disk, "/run").take_or_raise();
  for (std::uint64_t step = 1; step <= 12; ++step) {
    const double figure = step == 4 ? 0.1 : 1.0 / static_cast<double>(step);
    ASSERT_TRUE(folder.save(small_checkpoint(step, figure), {.num_last = 3}).ok());
  }
  EXPECT_EQ(*folder.steps(), (std::vector<std::uint64_t>{10, 11, 12}));
  for (std::uint64_t step = 13; step <= 20; ++step)
    ASSERT_TRUE(folder.save(small_checkpoint(step, 1), {.num_last = 3}).ok());
  EXPECT_EQ(*folder.steps(), (std::vector<std::uint64_t>{12, 18, 19, 20}));
  EXPECT_EQ(names_in(disk, "/run/checkpoints").size(), 4U);
}

TEST(RunFolderTest, AFigureThatIsNoNumberIsReadAsNone) {
  WriteListIo disk;
  ASSERT_TRUE(open_and_save(disk, "/run", {small_checkpoint(1, std::nan(""))}).ok());
  EXPECT_TRUE(std::isnan(load_checkpoint(disk, "/run")->checkpoint.figure));
}

TEST(RunFolderTest, ANewerVersionOrAnotherByteOrderIsRefusedByName) {
  for (const auto& [rest, found] : std::vector<std::pair<std::string, std::string>>{
           {R"(","version":2,"new":"things"})", "version 2"},
           {R"(","version":1,"byte_order":"big"})", "'big'"}}) {
    WriteListIo disk;
    save_two(disk);
    disk.put_file(kStep20 + "/state.json", sealed(rest));
    for (const std::string& path : {std::string("/run"), kStep20}) {
      const Result<FoundCheckpoint> loaded = load_checkpoint(disk, path);
      ASSERT_FALSE(loaded.ok());
      EXPECT_EQ(loaded.error().code->name, "E-CHECKPOINT-VERSION");
      EXPECT_EQ(loaded.error().found, found);
    }
    // Whoever keeps the rule does not remove what it cannot judge.
    ASSERT_TRUE(open_and_save(disk, "/run", {small_checkpoint(30, 0.7)}).ok());
    EXPECT_EQ(names_in(disk, "/run/checkpoints").size(), 3U);
  }
}

TEST(RunFolderTest, LackOfHandlesIsNoReasonToGoBack) {
  WriteListIo disk;
  save_two(disk);
  std::uint64_t num_calls = 0;
  for (const int error_number : {EMFILE, EACCES, ENOMEM}) {
    for (std::uint64_t call = 1;; ++call) {
      FaultIo io(disk);
      io.plan(
          {.at_call = call, .calls = {IoCall::kOpen, IoCall::kRead}, .error_number = error_number});
      const Result<FoundCheckpoint> found = load_checkpoint(io, "/run");
      if (io.num_fired() == 0) break;
      ++num_calls;
      EXPECT_FALSE(found.ok()) << call;
    }
  }
  EXPECT_GT(num_calls, 20U);
}

TEST(RunFolderTest, AnInterruptedReplacementIsSettled) {
  const Checkpoint other = small_checkpoint(20, 0.8, 1);
  struct Case {
    bool has_new, new_is_whole, old_is_whole;
    bool expects_new;
  };
  for (const Case& c : {Case{false, false, true, false}, Case{true, true, true, true},
                        Case{true, true, false, true}, Case{true, false, true, false}}) {
    WriteListIo disk;
    save_two(disk);
    const std::string old = kStep20 + ".old";
    disk.rename_at(-100, kStep20, old);
    if (!c.old_is_whole) disk.put_file(old + "/ema.safetensors", "cut");
    if (c.has_new) {
      ASSERT_TRUE(open_and_save(disk, "/other", {other}).ok());
      disk.rename_at(-100, "/other/checkpoints/step-00000020", kStep20);
    }
    if (c.has_new && !c.new_is_whole) disk.put_file(kStep20 + "/model.safetensors", "cut");
    const Checkpoint expected = c.expects_new ? other : small_checkpoint(20, 0.9);
    EXPECT_TRUE(is_same(load_checkpoint(disk, "/run")->checkpoint, expected));
    ASSERT_TRUE(RunFolder::open(disk, "/run").ok());
    EXPECT_EQ(names_in(disk, "/run/checkpoints"),
              (std::vector<std::string>{"step-00000010", "step-00000020"}));
    EXPECT_TRUE(is_same(load_checkpoint(disk, "/run")->checkpoint, expected));
  }
}

TEST(RunFolderTest, AReadOnlyFolderIsReadButNotOpenedForTraining) {
  WriteListIo disk;
  save_two(disk);
  FaultIo io(disk);
  io.plan({.calls = kWritingCalls, .repeat = Fault::Repeat::kFromThenOn, .error_number = EROFS});
  EXPECT_TRUE(load_checkpoint(io, "/run").ok());
  EXPECT_EQ(RunFolder::open(io, "/run").error().code->name, "E-IO-READONLY");
}

TEST(RunFolderTest, ARunWhoseNameMayNotLastIsRefused) {
  for (const std::uint64_t call : {1U, 2U, 3U}) {
    WriteListIo disk;
    disk.put_file("/disk/notes", "kept");
    FaultIo io(disk);
    io.plan({.at_call = call, .calls = {IoCall::kSync}, .error_number = EIO});
    const Result<RunFolder> folder = RunFolder::open(io, "/disk/new/run");
    ASSERT_FALSE(folder.ok()) << call;
    EXPECT_EQ(folder.error().code->name, "E-IO-FAILED");
  }
}

TEST(RunFolderTest, FoldersOfOthersInsideAreRemovedWithTheirCheckpoint) {
  WriteListIo disk;
  save_two(disk);
  disk.put_file(kStep20 + "/samples/deep/a.wav", "RIFF");
  ASSERT_TRUE(open_and_save(disk, "/run", {small_checkpoint(30, 0.7)}).ok());
  EXPECT_EQ(names_in(disk, "/run/checkpoints"),
            (std::vector<std::string>{"step-00000010", "step-00000030"}));
}

}  // namespace
}  // namespace stoker::train
