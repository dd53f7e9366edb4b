#include "tests/doubles/fault_io.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fstream>

#include "stoker/base/bytes.h"
#include "stoker/base/errors.h"
#include "stoker/base/io/paths.h"
#include "stoker/base/thread/sync.h"
#include "tests/doubles/fake_clock.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker {
namespace {

// What a small commit does, over the given Io.
Result<void> publish_twice(Io& io, const std::string& path) {
  Result<File> folder = open_file(io, path, OpenFor::kFolder);
  if (!folder.ok()) return std::move(folder).error();
  Result<void> first = publish_file(*folder, "m", view_bytes("first content"));
  if (!first.ok()) return first;
  return publish_file(*folder, "m", view_bytes("second content"));
}

std::string load(const ScratchFolder& scratch, std::string_view name) {
  Result<File> file = open_file(system_io(), scratch / name, OpenFor::kRead);
  if (!file.ok()) return {};
  return std::string(view_text(read_whole(*file, 1000).take_or_raise()));
}

bool has_litter(const ScratchFolder& scratch) {
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path()))
    if (is_temp_name(entry.path().filename().string())) return true;
  return false;
}

class FaultLoopTest : public testing::TestWithParam<int> {};

TEST_P(FaultLoopTest, PublishFailsCleanlyAtEveryCall) {
  std::uint64_t n = 1;
  for (bool fired = true; fired; ++n) {
    const ScratchFolder scratch;
    FaultIo io;
    io.plan({.at_call = n, .error_number = GetParam()});
    const Result<void> done = publish_twice(io, scratch.path());
    fired = io.num_fired() > 0;
    EXPECT_EQ(io.num_open_handles(), 0U) << "call " << n;
    const std::string content = load(scratch, "m");
    EXPECT_TRUE(!done.ok() || content == "second content") << "call " << n;
    EXPECT_TRUE(content.empty() || content == "first content" || content == "second content");
    EXPECT_FALSE(has_litter(scratch)) << "call " << n;
    EXPECT_TRUE(done.ok() || done.error().place.file.starts_with(scratch.path()));
    ASSERT_LT(n, 100U);
  }
  EXPECT_GT(n, 10U);
}

INSTANTIATE_TEST_SUITE_P(Errors, FaultLoopTest,
                         testing::Values(EIO, ENOSPC, EDQUOT, EINTR, EMFILE, EROFS));

TEST(FaultIoTest, InterruptedAndShortTransfersAreByteExact) {
  const ScratchFolder scratch;
  std::string content(10'000, ' ');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>('a' + i % 23);
  FaultIo io;
  io.plan({.kind = Fault::Kind::kShort,
           .calls = {IoCall::kRead, IoCall::kWrite},
           .repeat = Fault::Repeat::kFromThenOn});
  io.plan({.at_call = 2,
           .calls = {IoCall::kRead, IoCall::kWrite},
           .repeat = Fault::Repeat::kEveryNth,
           .error_number = EINTR});
  File file = open_file(io, scratch / "a", OpenFor::kCreateNew).take_or_raise();
  file.write_at(view_bytes(content), 0).take_or_raise();
  EXPECT_EQ(view_text(read_whole(file, 20'000).take_or_raise()), content);
  EXPECT_GT(io.num_fired(), 20U);
  EXPECT_EQ(io.bytes_read_by_path()[scratch / "a"], content.size());
}

TEST(FaultIoTest, WriteThatNeverMovesOnIsAnErrorNotAHang) {
  const ScratchFolder scratch;
  FaultIo io;
  io.plan(
      {.calls = {IoCall::kWrite}, .repeat = Fault::Repeat::kFromThenOn, .error_number = EAGAIN});
  const File file = open_file(io, scratch / "a", OpenFor::kCreateNew).take_or_raise();
  EXPECT_FALSE(file.write_at(view_bytes("x"), 0).ok());
}

TEST(FaultIoTest, ATransferThatIsInterruptedEachTimeEndsSoonWithAnError) {
  const ScratchFolder scratch;
  std::ofstream(scratch / "a") << "content";
  for (const IoCall call : {IoCall::kRead, IoCall::kWrite}) {
    FaultIo io;
    io.plan({.calls = {call}, .repeat = Fault::Repeat::kFromThenOn, .error_number = EINTR});
    const File file = open_file(io, scratch / "a", OpenFor::kReadWrite).take_or_raise();
    std::array<std::byte, 4> bytes{};
    const bool ok =
        call == IoCall::kRead ? file.read_at(bytes, 0).ok() : file.write_at(bytes, 0).ok();
    EXPECT_FALSE(ok);
    EXPECT_LE(io.num_calls(call), 1000U);
  }
}

TEST(FaultIoTest, FullDiskNamesBytesNeededAndFree) {
  const ScratchFolder scratch;
  FaultIo io;
  io.plan({.calls = {IoCall::kWrite}, .error_number = ENOSPC});
  const File file = open_file(io, scratch / "a", OpenFor::kCreateNew).take_or_raise();
  const Result<void> done = file.write_at(view_bytes("twelve bytes"), 0);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code->exit, ExitCode::kStorage);
  EXPECT_NE(done.error().found.find("12 bytes needed"), std::string::npos) << done.error().found;
  EXPECT_NE(done.error().found.find(" free"), std::string::npos);
}

TEST(FaultIoTest, SyncIsNotTriedAgainAfterAnInputOutputError) {
  const ScratchFolder scratch;
  FaultIo io;
  io.plan({.calls = {IoCall::kSync}});
  const File file = open_file(io, scratch / "a", OpenFor::kCreateNew).take_or_raise();
  EXPECT_FALSE(file.sync().ok());
  EXPECT_EQ(io.num_calls(IoCall::kSync), 1U);
}

TEST(FaultIoTest, FailedCloseIsReported) {
  const ScratchFolder scratch;
  FaultIo io;
  io.plan({.calls = {IoCall::kClose}, .error_number = ENOSPC});
  File file = open_file(io, scratch / "a", OpenFor::kCreateNew).take_or_raise();
  const Result<void> closed = file.close();
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().code->name, "E-IO-FULL");
}

TEST(FaultIoTest, CallsAreCountedOverAllThreads) {
  const ScratchFolder scratch;
  scratch.put("a", "content");
  FaultIo io;
  io.plan({.at_call = 150, .calls = {IoCall::kRead}});
  const File file = open_file(io, scratch / "a", OpenFor::kRead).take_or_raise();
  std::atomic<int> num_failed = 0;
  const auto read_often = [&](const std::stop_token&) {
    std::array<std::byte, 4> buffer{};
    for (int i = 0; i < 100; ++i)
      if (!file.read_at(buffer, 0).ok()) ++num_failed;
  };
  {
    Thread first("first", read_often);
    Thread second("second", read_often);
    first.join();
    second.join();
  }
  EXPECT_EQ(num_failed, 1);
  EXPECT_EQ(io.num_calls(IoCall::kRead), 200U);
}

void die_at_call(const std::string& path, std::uint64_t n) {
  FaultIo io;
  io.plan({.kind = Fault::Kind::kKill, .at_call = n});
  std::ignore = publish_twice(io, path);
  std::_Exit(0);
}

TEST(FaultIoDeathTest, KillLeavesOldOrNewContent) {
  const ScratchFolder scratch;
  EXPECT_EXIT(die_at_call(scratch.path(), 10), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EQ(load(scratch, "m"), "first content");
  EXPECT_EXIT(die_at_call(scratch.path(), 1000), testing::ExitedWithCode(0), "");
  EXPECT_EQ(load(scratch, "m"), "second content");
}

TEST(FakeClockTest, MovesOnlyWhenTold) {
  FakeClock clock;
  const Stopwatch watch(clock);
  clock.advance(std::chrono::seconds(5));
  clock.set_unix_time_ns(0);
  EXPECT_EQ(watch.seconds(), 5.0);
}

TEST(FakeClockTest, EndsAWaitOfSyncH) {
  FakeClock clock;
  Mutex mutex;
  ConditionVariable never;
  const Deadline deadline = Deadline::after(clock, std::chrono::hours(1));
  Thread jump("jump", [&](const std::stop_token&) { clock.advance(std::chrono::hours(2)); });
  Lock lock(mutex);
  while (never.wait_until(lock, {}, deadline) != WaitEnd::kDeadline) {
  }
  EXPECT_GE(clock.now(), deadline.at);
}

}  // namespace
}  // namespace stoker
