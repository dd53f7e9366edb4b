// Failures that say nothing about the bytes: they change no cache and are never called damage.
#include <gtest/gtest.h>

#include <cerrno>

#include "stoker/cache/errors.h"
#include "stoker/cache/maintain/verify.h"
#include "stoker/cache/read/damage.h"
#include "tests/cache/format/shard_fixture.h"
#include "tests/cache/small_world.h"
#include "tests/doubles/fault_io.h"

namespace stoker::cache {
namespace {

TEST(DamageTest, OnlyErrorsAboutContentProveDamage) {
  for (const int passing : {ENOMEM, EMFILE, ENFILE, EINTR, EACCES, EPERM, EIO, ESTALE, ETIMEDOUT}) {
    EXPECT_FALSE(proves_damage(io_error("read", "a", passing))) << passing;
    EXPECT_TRUE(is_passing(io_error("read", "a", passing))) << passing;
  }
  for (const int lasting : {ENOENT, EISDIR, ELOOP, ENXIO})
    EXPECT_TRUE(proves_damage(io_error("read", "a", lasting))) << lasting;
  EXPECT_FALSE(proves_damage({.code = &kCacheVersion}));
  EXPECT_TRUE(proves_damage({.code = &kShardCorrupt}));
}

class PassingFaultTest : public testing::TestWithParam<int> {};

// A call that fails without proving anything leaves a good cache good, at whatever place it comes.
TEST_P(PassingFaultTest, AtAnyReadingCallTheCacheStaysAsGoodAsItWas) {
  TempFolder temp;
  SmallWorld(system_io(), temp.path(), 6).write_sources();
  SmallWorld(system_io(), temp.path(), 6).build();
  const SmallWorld world(system_io(), temp.path(), 6);
  const BuildTarget target = world.target();
  const File folder = open_file(system_io(), world.cache_path(), OpenFor::kFolder).take_or_raise();
  const std::string manifest = files_of(world.cache_path()).at("manifest.json");
  for (std::uint64_t call = 1;; ++call) {
    FaultIo io;
    io.plan({.at_call = call,
             .calls = {IoCall::kOpen, IoCall::kRead, IoCall::kInfo, IoCall::kInfoAt, IoCall::kList,
                       IoCall::kMap},
             .error_number = GetParam()});
    SmallWorld failing(io, temp.path(), 6);
    try {
      failing.build(1, {.check_bytes = true});
    } catch (const std::exception&) {
      // The build may end with the error; it may not harm what was there.
    }
    const VerifyReport after = verify_cache(folder, target, {});
    ASSERT_EQ(after.num_bad(), 0U) << "call " << call;
    ASSERT_EQ(files_of(world.cache_path()).at("manifest.json"), manifest) << "call " << call;
    if (io.num_fired() == 0) break;
  }
}

TEST_P(PassingFaultTest, VerifyNeverCallsTheCacheCorrupt) {
  TempFolder temp;
  SmallWorld(system_io(), temp.path(), 6).write_sources();
  SmallWorld(system_io(), temp.path(), 6).build();
  for (std::uint64_t call = 1;; ++call) {
    FaultIo io;
    io.plan({.at_call = call,
             .calls = {IoCall::kOpen, IoCall::kRead, IoCall::kInfo, IoCall::kInfoAt, IoCall::kMap},
             .error_number = GetParam()});
    SmallWorld failing(io, temp.path(), 6);
    const BuildTarget target = failing.target();
    try {
      const File folder = open_file(io, failing.cache_path(), OpenFor::kFolder).take_or_raise();
      const VerifyReport report = verify_cache(folder, target, {});
      ASSERT_EQ(report.corrupt + report.missing, 0U) << "call " << call;
    } catch (const std::exception&) {
      // It says that it could not look.
    }
    if (io.num_fired() == 0) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Errors, PassingFaultTest,
                         testing::Values(ENOMEM, EMFILE, EACCES, EIO, ETIMEDOUT));

}  // namespace
}  // namespace stoker::cache
