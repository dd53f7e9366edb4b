// Saves that are killed, refused or cut from power at every call: what was there stays, or the new
// checkpoint is whole.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "stoker/train/errors.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/doubles/write_list_io.h"
#include "tests/train/checkpoint/small_checkpoint.h"

namespace stoker::train {
namespace {

bool is_killed_at(std::uint64_t call, const std::string& run, const Checkpoint& next) {
  const pid_t child = fork();
  if (child == 0) {
    FaultIo io;
    io.plan({.kind = Fault::Kind::kKill, .at_call = call});
    _exit(open_and_save(io, run, {next}).ok() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

// A kill loses nothing that was written, synced or not, so the file system may be one of memory.
void use_quick_folders() {
  if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
}

TEST(CheckpointFaultTest, AKillAtAnyCallLosesNothing) {
  use_quick_folders();
  std::uint64_t num_kills = 0;
  for (const Scenario& scenario : scenarios()) {
    const ScratchFolder scratch;
    const std::string prepared = scratch / "prepared";
    std::filesystem::create_directories(prepared);
    ASSERT_TRUE(scenario.prior.empty() ||
                open_and_save(system_io(), prepared, scenario.prior).ok());
    const std::string run = scratch / "run";
    for (std::uint64_t call = 1;; ++call) {
      std::filesystem::remove_all(run);
      std::filesystem::copy(prepared, run, std::filesystem::copy_options::recursive);
      if (!is_killed_at(call, run, scenario.next)) break;
      ++num_kills;
      SCOPED_TRACE(fmt::format("{}: killed at call {}", scenario.name, call));
      ASSERT_EQ(fault_of_run(system_io(), run, scenario), "");
      ASSERT_EQ(fault_of_best(system_io(), run, scenario), "");
      ASSERT_EQ(fault_of_next_start(system_io(), run), "");
    }
    ASSERT_EQ(fault_of_run(system_io(), run, scenario), "");
  }
  RecordProperty("kills", std::to_string(num_kills));
  EXPECT_GT(num_kills, 200U);
}

struct Struck {
  std::uint64_t num_rounds = 0;
  std::uint64_t num_refused = 0;
};

// The fault at call 1, 2, 3 … of opening the run and saving.
Struck strike_every_call(const Scenario& scenario, Fault fault) {
  Struck struck;
  for (fault.at_call = 1;; ++fault.at_call) {
    WriteListIo disk;
    disk.put_file("/disk/notes", "kept");
    EXPECT_TRUE(open_and_save(disk, "/disk/run", scenario.prior).ok());
    FaultIo io(disk);
    io.plan(fault);
    const Result<void> saved = open_and_save(io, "/disk/run", {scenario.next});
    EXPECT_EQ(io.num_open_handles(), 0U);
    const std::string when = fmt::format("{}: call {}", scenario.name, fault.at_call);
    EXPECT_EQ(fault_of_run(disk, "/disk/run", scenario), "") << when;
    EXPECT_EQ(fault_of_best(disk, "/disk/run", scenario), "") << when;
    if (saved) {
      const Result<FoundCheckpoint> found = load_checkpoint(disk, "/disk/run");
      EXPECT_TRUE(found.ok() && is_same(found->checkpoint, scenario.next)) << when;
    } else {
      ++struck.num_refused;
      EXPECT_FALSE(saved.error().place.file.empty()) << when;
    }
    EXPECT_EQ(fault_of_next_start(disk, "/disk/run"), "") << when;
    ++struck.num_rounds;
    if (io.num_fired() == 0 || testing::Test::HasFailure()) return struck;
  }
}

TEST(CheckpointFaultTest, AnyErrorAtAnyCallLosesNothing) {
  Struck sum;
  for (const int error_number : {ENOSPC, EIO, EDQUOT, EMFILE, EROFS, EINTR, EACCES, ENOMEM}) {
    for (const Fault::Repeat repeat : {Fault::Repeat::kOnce, Fault::Repeat::kFromThenOn}) {
      for (const Scenario& scenario : scenarios()) {
        const Struck struck =
            strike_every_call(scenario, {.repeat = repeat, .error_number = error_number});
        ASSERT_FALSE(HasFailure()) << "errno " << error_number;
        EXPECT_GT(struck.num_refused, 30U);
        sum.num_rounds += struck.num_rounds;
        sum.num_refused += struck.num_refused;
      }
    }
  }
  RecordProperty("rounds", std::to_string(sum.num_rounds));
  RecordProperty("refused", std::to_string(sum.num_refused));
}

TEST(CheckpointFaultTest, ShortReadsAndWritesChangeNothing) {
  for (const Scenario& scenario : scenarios()) {
    const Struck struck = strike_every_call(scenario, {.kind = Fault::Kind::kShort});
    EXPECT_EQ(struck.num_refused, 0U);
    EXPECT_GT(struck.num_rounds, 60U);
  }
}

TEST(CheckpointFaultTest, AWriteThatStoresOtherBytesIsNoticed) {
  for (const Scenario& scenario : scenarios()) {
    const Struck struck =
        strike_every_call(scenario, {.kind = Fault::Kind::kFlip, .calls = {IoCall::kWrite}});
    // Three headers, two tensors each, the state; the lock's name alone is nobody's loss.
    EXPECT_EQ(struck.num_refused, 10U);
    EXPECT_EQ(struck.num_rounds, 12U);
  }
}

TEST(CheckpointFaultTest, AFullDiskFailsOneSaveAndTheNextOneWorks) {
  WriteListIo disk;
  FaultIo io(disk);
  RunFolder folder = RunFolder::open(io, "/run").take_or_raise();
  ASSERT_TRUE(folder.save(small_checkpoint(1, 0.9), {}).ok());
  for (const std::set<IoCall>& calls :
       {std::set{IoCall::kAllocate}, std::set{IoCall::kWrite}, std::set{IoCall::kMakeFolder}}) {
    io.plan({.calls = calls, .repeat = Fault::Repeat::kFromThenOn, .error_number = ENOSPC});
    const Result<void> failed = folder.save(small_checkpoint(2, 0.8), {});
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code->name, "E-IO-FULL");
    EXPECT_EQ(*folder.steps(), std::vector<std::uint64_t>{1});
    EXPECT_EQ(names_in(disk, "/run/checkpoints").size(), 1U);  // the space is free again
    io.clear_faults();
  }
  EXPECT_TRUE(folder.save(small_checkpoint(2, 0.8), {}).ok());
  EXPECT_EQ(load_checkpoint(disk, "/run")->checkpoint.step, 2U);
}

TEST(CheckpointFaultTest, ARenameThatFailsLeavesTheReplacedOneInItsPlace) {
  const Scenario again = scenarios().back();
  WriteListIo disk;
  ASSERT_TRUE(open_and_save(disk, "/run", again.prior).ok());
  const std::vector<std::string> before = names_in(disk, "/run/checkpoints");
  for (const std::uint64_t call : {1U, 2U}) {
    FaultIo io(disk);
    io.plan({.at_call = call, .calls = {IoCall::kRename}, .error_number = EIO});
    EXPECT_FALSE(open_and_save(io, "/run", {again.next}).ok());
    EXPECT_EQ(names_in(disk, "/run/checkpoints"), before);
  }
}

TEST(CheckpointFaultTest, LeftOversThatCouldNotBeRemovedGoWithTheNextSave) {
  WriteListIo disk;
  FaultIo io(disk);
  RunFolder folder = RunFolder::open(io, "/run").take_or_raise();
  io.plan({.calls = {IoCall::kSync}, .repeat = Fault::Repeat::kFromThenOn, .error_number = EIO});
  io.plan({.calls = {IoCall::kUnlink}, .repeat = Fault::Repeat::kFromThenOn, .error_number = EIO});
  EXPECT_EQ(folder.save(small_checkpoint(1, 0.8), {}).error().code->name, "E-IO-FAILED");
  EXPECT_EQ(names_in(disk, "/run/checkpoints").size(), 1U);
  io.clear_faults();
  EXPECT_TRUE(folder.save(small_checkpoint(2, 0.8), {}).ok());
  EXPECT_EQ(names_in(disk, "/run/checkpoints"), std::vector<std::string>{"step-00000002"});
}

TEST(CheckpointFaultTest, APowerCutLeavesTheOldOrTheNewOne) {
  constexpr std::uint64_t kNumSeeds = 800;
  for (const Scenario& scenario : scenarios()) {
    WriteListIo disk;
    disk.put_file("/disk/notes", "kept");
    ASSERT_TRUE(open_and_save(disk, "/disk/run", scenario.prior).ok());
    const std::size_t before = disk.num_steps();
    ASSERT_TRUE(open_and_save(disk, "/disk/run", {scenario.next}).ok());
    const std::size_t after = disk.num_steps();
    std::uint64_t num_new = 0;
    for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed) {
      KeyedDraws draws({.seed = seed, .stage = "power cut", .epoch = 0, .item = 0});
      const std::size_t steps = before + draws.next_below(after - before + 1);
      const std::unique_ptr<WriteListIo> left = disk.after_crash(steps, seed);
      SCOPED_TRACE(fmt::format("{}: seed {}, {} of {} steps", scenario.name, seed, steps, after));
      ASSERT_EQ(fault_of_run(*left, "/disk/run", scenario), "");
      ASSERT_EQ(fault_of_best(*left, "/disk/run", scenario), "");
      const Result<FoundCheckpoint> found = load_checkpoint(*left, "/disk/run");
      if (found && is_same(found->checkpoint, scenario.next)) ++num_new;
      ASSERT_EQ(fault_of_next_start(*left, "/disk/run"), "");
    }
    EXPECT_GT(num_new, kNumSeeds / 20);
    EXPECT_LT(num_new, kNumSeeds);
    // What save() has returned for is durable.
    const std::unique_ptr<WriteListIo> left = disk.after_crash(after, 1);
    const Result<FoundCheckpoint> found = load_checkpoint(*left, "/disk/run");
    EXPECT_TRUE(found.ok() && is_same(found->checkpoint, scenario.next));
  }
}

}  // namespace
}  // namespace stoker::train
