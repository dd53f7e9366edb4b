// The engine's contract with integers: order, endings, errors, leases, changing workers and depth.
#include "stoker/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "stoker/pipeline/errors.h"
#include "tests/doubles/fake_clock.h"
#include "tests/pipeline/counting_filler.h"

namespace stoker::pipeline {
namespace {

using std::chrono::milliseconds;

struct Layout {
  unsigned num_workers;
  unsigned depth;
};

class PipelineContractTest : public testing::TestWithParam<Layout> {
 protected:
  PipelineOptions options() const {
    return {.num_workers = GetParam().num_workers, .depth = GetParam().depth};
  }
};

TEST_P(PipelineContractTest, DeliversEverySlotOnceInOrderThenEnds) {
  auto filler = std::make_shared<CountingFiller>(500);
  Pipeline pipeline(filler, options());
  for (std::uint64_t expected = 0; expected < 500; ++expected) {
    const SlotLease lease = pipeline.next();
    ASSERT_TRUE(lease);
    ASSERT_EQ(lease.sequence(), expected);
    ASSERT_EQ(filler->value(lease.slot()), expected * expected);
  }
  EXPECT_FALSE(pipeline.next());
  EXPECT_EQ(pipeline.ending(), Ending::kEnd);
  EXPECT_FALSE(pipeline.next());
}

TEST_P(PipelineContractTest, RandomDelaysChangeNothing) {
  auto filler = std::make_shared<CountingFiller>(60);
  filler->during = [](FillContext& context, std::size_t stage) {
    std::this_thread::sleep_for(
        std::chrono::microseconds(context.sequence() * 7919 % 13 * 60 * stage));
  };
  Pipeline pipeline(filler, options());
  for (std::uint64_t expected = 0; expected < 60; ++expected) {
    const SlotLease lease = pipeline.next();
    ASSERT_EQ(lease.sequence(), expected);
    ASSERT_EQ(filler->value(lease.slot()), expected * expected);
  }
  EXPECT_FALSE(pipeline.next());
}

TEST_P(PipelineContractTest, NoMoreSlotsThanDepthPlusTwoAreUsed) {
  auto filler = std::make_shared<CountingFiller>(200);
  Pipeline pipeline(filler, options());
  while (const SlotLease lease = pipeline.next()) EXPECT_LT(lease.slot(), GetParam().depth + 2);
}

TEST_P(PipelineContractTest, WhatCameBeforeAFailureIsDeliveredAndTheFailureStays) {
  for (const std::uint64_t bad : {0, 17, 39}) {
    for (const std::size_t bad_stage : {0, 1, 2}) {
      auto filler = std::make_shared<CountingFiller>(40);
      filler->during = [&](FillContext& context, std::size_t stage) {
        if (context.sequence() >= bad && stage == bad_stage) throw std::runtime_error("planted");
      };
      Pipeline pipeline(filler, options());
      for (std::uint64_t expected = 0; expected < bad; ++expected) {
        ASSERT_EQ(pipeline.next().sequence(), expected);
      }
      for (int again = 0; again < 2; ++again) {
        try {
          pipeline.next();
          FAIL() << "no failure at " << bad;
        } catch (const Failure& failure) {
          EXPECT_EQ(failure.error().code, &kPipeWorker);
          EXPECT_EQ(failure.error().place.file, "file" + std::to_string(bad));
          EXPECT_EQ(failure.error().found, "planted");
          EXPECT_NE(failure.error().action.find(filler->stages()[bad_stage]), std::string::npos);
        }
      }
    }
  }
}

TEST_P(PipelineContractTest, StartsAtAnyNumber) {
  auto filler = std::make_shared<CountingFiller>(CountingFiller::kEndless);
  PipelineOptions from = options();
  from.first_sequence = 12'345;
  Pipeline pipeline(filler, from);
  EXPECT_EQ(pipeline.next().sequence(), 12'345U);
  EXPECT_EQ(pipeline.next().sequence(), 12'346U);
}

// On a clock that does not move: an end that waited for a limit would not come.
TEST_P(PipelineContractTest, EndsFromEveryStateWithoutWaitingForALimit) {
  for (const unsigned taken : {0U, 1U, 7U}) {
    const FakeClock clock;
    auto filler = std::make_shared<CountingFiller>(CountingFiller::kEndless);
    const std::weak_ptr<CountingFiller> trace = filler;
    {
      PipelineOptions frozen = options();
      frozen.clock = &clock;
      Pipeline pipeline(std::move(filler), frozen);
      for (unsigned i = 0; i < taken; ++i) pipeline.next();
    }
    EXPECT_TRUE(trace.expired()) << "a worker was left behind";
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, PipelineContractTest,
                         testing::Values(Layout{0, 1}, Layout{1, 1}, Layout{1, 8}, Layout{2, 2},
                                         Layout{3, 8}, Layout{16, 2}, Layout{64, 8}),
                         [](const auto& each) {
                           return "Workers" + std::to_string(each.param.num_workers) + "Depth" +
                                  std::to_string(each.param.depth);
                         });

TEST(PipelineTest, ALeaseOutlivesThePipeline) {
  auto filler = std::make_shared<CountingFiller>(10);
  SlotLease kept;
  {
    Pipeline pipeline(filler, {.num_workers = 2});
    kept = pipeline.next();
  }
  EXPECT_EQ(filler->value(kept.slot()), 0U);
}

TEST(PipelineTest, WorkersAndDepthChangeWhileRunning) {
  auto filler = std::make_shared<CountingFiller>(2000);
  Pipeline pipeline(filler, {.num_workers = 1, .max_workers = 8, .depth = 1, .max_depth = 16});
  for (std::uint64_t expected = 0; expected < 2000; ++expected) {
    if (expected % 50 == 0) pipeline.set_num_workers(static_cast<unsigned>(expected / 50 * 5 % 9));
    if (expected % 30 == 0) pipeline.set_depth(static_cast<unsigned>(1 + expected / 30 * 7 % 16));
    const SlotLease lease = pipeline.next();
    ASSERT_EQ(lease.sequence(), expected);
    ASSERT_EQ(filler->value(lease.slot()), expected * expected);
  }
  EXPECT_FALSE(pipeline.next());
}

TEST(PipelineTest, SeveralWorkersShareTheWork) {
  constexpr std::uint64_t kTenth = 12;
  constexpr unsigned kFewWorkers = 7;
  for (const unsigned num_workers : {2U, 7U, 16U, 64U}) {
    for (const unsigned depth : {1U, 2U, 8U}) {
      auto filler = std::make_shared<CountingFiller>(10 * kTenth);
      filler->during = [](FillContext&, std::size_t) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      };
      Pipeline pipeline(filler, {.num_workers = num_workers, .depth = depth});
      while (pipeline.next()) {
      }
      const std::vector<std::uint64_t> fills = pipeline.stats().fills;
      const auto all = std::accumulate(fills.begin(), fills.end(), std::uint64_t{0});
      const auto busiest = *std::max_element(fills.begin(), fills.end());
      EXPECT_GE(all - busiest, kTenth)
          << "done by others than the busiest of " << num_workers << " workers, depth " << depth;
      if (num_workers > kFewWorkers) continue;  // many may each get less than a tenth
      EXPECT_GE(std::count_if(fills.begin(), fills.end(), [](auto n) { return n >= kTenth; }), 2)
          << num_workers << " workers, depth " << depth;
    }
  }
}

std::uint64_t count_fills(const Pipeline& pipeline) {
  const std::vector<std::uint64_t> fills = pipeline.stats().fills;
  return std::accumulate(fills.begin(), fills.end(), std::uint64_t{0});
}

bool falls_asleep(const Pipeline& pipeline, unsigned num_workers) {
  for (int i = 0; i < 5000 && pipeline.stats().num_asleep != num_workers; ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  return pipeline.stats().num_asleep == num_workers;
}

TEST(PipelineTest, WorkersSleepUntilHalfOfTheSlotsAreEmptyAndThenFillAll) {
  auto filler = std::make_shared<CountingFiller>(CountingFiller::kEndless);
  Pipeline pipeline(filler, {.num_workers = 2, .depth = 8});
  ASSERT_TRUE(falls_asleep(pipeline, 2));
  EXPECT_EQ(count_fills(pipeline), 9U);  // one more than the depth
  for (int i = 0; i < 4; ++i) pipeline.next();
  EXPECT_EQ(count_fills(pipeline), 9U);
  EXPECT_EQ(pipeline.stats().num_asleep, 2U);
  pipeline.next();
  ASSERT_TRUE(falls_asleep(pipeline, 2));
  EXPECT_EQ(count_fills(pipeline), 14U);
}

TEST(PipelineTest, AConsumerThatIsNeverBehindSeesFewSlotsAgainAndAgain) {
  for (const unsigned num_workers : {0U, 1U}) {
    const auto filler = std::make_shared<CountingFiller>(60);
    std::array<Gate, 60> asked;
    filler->during = [&](FillContext& context, std::size_t) {
      asked[context.sequence()].wait(context.stop());
    };
    Pipeline pipeline(filler, {.num_workers = num_workers, .depth = 40});
    std::set<std::uint32_t> seen;
    for (Gate& gate : asked) {
      gate.open();
      seen.insert(pipeline.next().slot());
    }
    EXPECT_LT(seen.size(), 20U) << num_workers << " workers";
  }
}

TEST(PipelineTest, StageTimesAreCounted) {
  FakeClock clock;
  auto filler = std::make_shared<CountingFiller>(10);
  filler->during = [&](FillContext&, std::size_t stage) {
    if (stage == 1) clock.advance(milliseconds(2));
  };
  Pipeline pipeline(filler, {.num_workers = 1, .clock = &clock});
  while (pipeline.next()) {
  }
  const PipelineStats stats = pipeline.stats();
  ASSERT_EQ(stats.stages.size(), 3U);
  EXPECT_EQ(stats.stages[1].name, "work");
  EXPECT_DOUBLE_EQ(stats.stages[1].busy_s, 0.02);
  EXPECT_EQ(stats.stages[0].busy_s, 0);
  EXPECT_EQ(stats.stages[2].busy_s, 0);
  EXPECT_EQ(stats.num_delivered, 10U);
}

TEST(PipelineTest, HoldingEverySlotIsAnErrorAndNotAHang) {
  for (const unsigned num_workers : {0U, 2U}) {
    FakeClock clock;
    auto filler = std::make_shared<CountingFiller>(100);
    Pipeline pipeline(filler, {.num_workers = num_workers, .depth = 2, .clock = &clock});
    std::vector<SlotLease> held;
    for (int i = 0; i < 4; ++i) held.push_back(pipeline.next());
    ASSERT_TRUE(falls_asleep(pipeline, num_workers)) << "four leases of four slots";
    const Thread time("time", [&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); std::this_thread::yield())
        clock.advance(std::chrono::seconds(5));
    });
    try {
      held.push_back(pipeline.next());
      FAIL() << "five leases of four slots";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &kPipeLeases);
    }
  }
}

}  // namespace
}  // namespace stoker::pipeline
