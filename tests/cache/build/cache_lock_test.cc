#include "stoker/cache/build/cache_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "tests/cache/format/shard_fixture.h"
#include "tests/cache/small_world.h"
#include "tests/doubles/fault_io.h"

namespace stoker::cache {
namespace {

class CacheLockTest : public testing::Test {
 protected:
  File folder() { return open_file(io_, temp_.path(), OpenFor::kFolder).take_or_raise(); }
  Result<CacheLock> take(const LockOptions& options) { return CacheLock::take(folder(), options); }
  TempFolder temp_;
  FaultIo io_;
};

TEST_F(CacheLockTest, NamesItsHolderWhileHeldAndIsEmptyAfterwards) {
  {
    const Result<CacheLock> lock = take({});
    ASSERT_TRUE(lock.ok());
    const std::string text = files_of(temp_.path()).at("lock");
    EXPECT_EQ(text.find("pid " + std::to_string(getpid()) + " on host "), 0U) << text;
    EXPECT_NE(text.find(", since 2"), std::string::npos) << text;
  }
  EXPECT_EQ(files_of(temp_.path()).at("lock"), "");
}

TEST_F(CacheLockTest, AnErrorWhileTheLockIsLookedAtEndsTheAttempt) {
  for (const IoCall call : {IoCall::kInfo, IoCall::kInfoAt, IoCall::kLock, IoCall::kTruncate}) {
    io_.clear_faults();
    io_.plan({.calls = {call}, .repeat = Fault::Repeat::kFromThenOn, .error_number = EIO});
    const Result<CacheLock> lock = take({});
    ASSERT_FALSE(lock.ok()) << "call " << static_cast<int>(call);
    EXPECT_EQ(lock.error().code->exit, ExitCode::kStorage);
  }
}

TEST_F(CacheLockTest, ASecondBuilderIsRefusedOrWaitsWithTheHolderNamed) {
  Result<CacheLock> first = take({});
  const Result<CacheLock> second = take({.when_locked = WhenLocked::kRefuse});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code->exit, ExitCode::kLockHeld);
  EXPECT_NE(second.error().found.find("pid"), std::string::npos);
  std::string told;
  std::thread releasing([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    const CacheLock gone = std::move(first).value();
  });
  const Result<CacheLock> waited =
      take({.on_wait = [&](const std::string& holder) { told = holder; }});
  EXPECT_TRUE(waited.ok());
  EXPECT_NE(told.find("pid"), std::string::npos);
  releasing.join();
}

TEST_F(CacheLockTest, DiesWithItsHolder) {
  const pid_t child = fork();
  if (child == 0) {
    const Result<CacheLock> lock = take({});
    ::raise(SIGKILL);
    _exit(lock.ok() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_NE(files_of(temp_.path()).at("lock"), "");
  EXPECT_TRUE(take({.when_locked = WhenLocked::kRefuse}).ok());
}

TEST_F(CacheLockTest, AFileSystemWithoutLocksIsExplainedAndCanBeOverruled) {
  io_.plan(
      {.calls = {IoCall::kLock}, .repeat = Fault::Repeat::kFromThenOn, .error_number = ENOLCK});
  const Result<CacheLock> refused = take({});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code->name, "E-CACHE-NOLOCK");
  EXPECT_TRUE(take({.break_lock = BreakLock::kYes}).ok());
}

TEST_F(CacheLockTest, AHeldLockCanBeBroken) {
  const Result<CacheLock> first = take({});
  EXPECT_TRUE(take({.when_locked = WhenLocked::kRefuse, .break_lock = BreakLock::kYes}).ok());
}

TEST_F(CacheLockTest, AWaitEndsWhenStopped) {
  const Result<CacheLock> first = take({});
  std::stop_source stop;
  std::thread stopping([&] { stop.request_stop(); });
  EXPECT_FALSE(take({.stop = stop.get_token()}).ok());
  stopping.join();
}

TEST_F(CacheLockTest, ManyBuildersGiveOneCache) {
  SmallWorld reference(system_io(), temp_.path(), 40);
  reference.write_sources();
  std::vector<std::thread> builders;
  for (int i = 0; i < 4; ++i)
    builders.emplace_back([this] {
      SmallWorld world(system_io(), temp_.path(), 40);
      make_folders(system_io(), world.cache_path()).take_or_raise();
      const File folder = open_file(system_io(), world.cache_path(), OpenFor::kFolder).value();
      const CacheLock lock = CacheLock::take(folder, {}).take_or_raise();
      build_cache(folder, world.target(), {.num_workers = 2});
    });
  for (std::thread& builder : builders) builder.join();
  EXPECT_EQ(reference.build().rows_reused, 40U);
}

}  // namespace
}  // namespace stoker::cache
