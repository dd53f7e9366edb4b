#include <gtest/gtest.h>

#include <cerrno>

#include "tests/cache/fault_loop.h"

namespace stoker::cache {
namespace {

TEST(FaultTest, AKillAtAnyCallLosesNothingAndTheNextBuildGivesTheSameBytes) {
  for (const unsigned num_workers : {1U, 4U}) {
    const LoopResult result =
        kill_at_every_call({.num_rows = 12, .num_workers = num_workers, .step = 1});
    EXPECT_TRUE(result.is_clean()) << result.first_problem;
    EXPECT_GT(result.num_broken, 60U);
  }
}

struct ErrorCase {
  const char* name;
  Fault fault;
};

class FaultLoopTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(FaultLoopTest, EveryCallMayFailOnceAndTheNextBuildGivesTheSameBytes) {
  for (const unsigned num_workers : {1U, 4U}) {
    const LoopResult result = fail_at_every_call(
        {.num_rows = 6, .num_workers = num_workers, .step = 1}, GetParam().fault);
    EXPECT_TRUE(result.is_clean()) << result.first_problem;
    EXPECT_GT(result.num_rounds, 1U);
  }
}

Fault failing(std::set<IoCall> calls, int error_number) {
  Fault fault;
  fault.calls = std::move(calls);
  fault.error_number = error_number;
  return fault;
}

Fault short_ones() {
  Fault fault;
  fault.kind = Fault::Kind::kShort;
  fault.calls = {IoCall::kRead, IoCall::kWrite};
  return fault;
}

INSTANTIATE_TEST_SUITE_P(
    Errors, FaultLoopTest,
    testing::Values(ErrorCase{"NoSpace", failing(kWritingCalls, ENOSPC)},
                    ErrorCase{"Quota", failing(kWritingCalls, EDQUOT)},
                    ErrorCase{"ReadOnly", failing(kWritingCalls, EROFS)},
                    ErrorCase{"SyncFails", failing({IoCall::kSync}, EIO)},
                    ErrorCase{"CloseFails", failing({IoCall::kClose}, EIO)},
                    ErrorCase{"ReadFails", failing({IoCall::kRead, IoCall::kMap}, EIO)},
                    ErrorCase{"RenameLeavesTheDisk", failing({IoCall::kRename}, EXDEV)},
                    ErrorCase{"TooManyOpen", failing({IoCall::kOpen}, EMFILE)},
                    ErrorCase{"Interrupted", failing({IoCall::kRead, IoCall::kWrite}, EINTR)},
                    ErrorCase{"Short", short_ones()}),
    [](const testing::TestParamInfo<ErrorCase>& row) { return row.param.name; });

TEST(FaultTest, APowerCutLeavesNothingBadBehind) {
  const LoopResult result = cut_power({.num_rows = 8, .num_workers = 1, .step = 1}, 300);
  EXPECT_TRUE(result.is_clean()) << result.first_problem;
}

}  // namespace
}  // namespace stoker::cache
