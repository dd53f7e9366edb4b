// How large a buffer is when no setting says.
#include "stoker/feed/assembly/buffer_plan.h"

#include <gtest/gtest.h>

namespace stoker::feed {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

struct PlanCase {
  const char* name;
  BufferFacts facts;
  unsigned num_batches;
  const char* reason;
};

class BufferPlanTest : public testing::TestWithParam<PlanCase> {};

TEST_P(BufferPlanTest, HoldsWhatAPauseTakesAsFarAsTheMemoryGoes) {
  const BufferPlan plan = plan_buffer(GetParam().facts);
  EXPECT_EQ(plan.num_batches, GetParam().num_batches);
  EXPECT_EQ(plan.reason, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, BufferPlanTest,
    testing::Values(
        PlanCase{"NotMeasured", {.num_workers = 2}, 32, "30 for a pause of 30 ms, 2 being filled"},
        PlanCase{"Calm",
                 {.num_workers = 16, .jitter = microseconds(100)},
                 46,
                 "30 for a pause of 30 ms, 16 being filled"},
        PlanCase{"Jittery",
                 {.num_workers = 2, .jitter = milliseconds(20)},
                 82,
                 "80 for a pause of 80 ms, 2 being filled"},
        PlanCase{"LongSteps",
                 {.num_workers = 2, .batch_frames = 42'500},
                 8,
                 "6 for a pause of 30 ms, 2 being filled"},
        PlanCase{"ShortSteps",
                 {.num_workers = 2, .batch_frames = 400},
                 32,
                 "30 for a pause of 30 ms, 2 being filled"},
        PlanCase{"LittleMemory",
                 {.slot_bytes = 10 << 20, .memory_bytes = 64 << 20, .num_workers = 2},
                 6,
                 "30 for a pause of 30 ms, 2 being filled; as many as 64.0 MiB hold"},
        PlanCase{"AlmostNoMemory",
                 {.slot_bytes = 10 << 20, .memory_bytes = 8 << 20, .num_workers = 2},
                 4,
                 "30 for a pause of 30 ms, 2 being filled; as many as 8.0 MiB hold"}),
    [](const auto& each) { return each.param.name; });

TEST(JitterTest, IsLookedForAsLongAsAskedAndIsNotNegative) {
  EXPECT_GE(measure_jitter(milliseconds(5)), std::chrono::nanoseconds(0));
  EXPECT_EQ(measure_jitter(std::chrono::nanoseconds(0)), std::chrono::nanoseconds(0));
}

}  // namespace
}  // namespace stoker::feed
