// The engine's contract with integers: order, endings, errors, leases, changing workers and depth.
#include "stoker/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "stoker/pipeline/errors.h"
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

TEST_P(PipelineContractTest, EndsQuicklyFromEveryState) {
  for (const unsigned taken : {0U, 1U, 7U}) {
    auto filler = std::make_shared<CountingFiller>(CountingFiller::kEndless);
    const Stopwatch watch;
    {
      Pipeline pipeline(filler, options());
      for (unsigned i = 0; i < taken; ++i) pipeline.next();
    }
    EXPECT_LT(watch.seconds(), 1.0);
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

TEST(PipelineTest, CancelWakesAWaitingConsumer) {
  auto filler = std::make_shared<CountingFiller>(CountingFiller::kEndless);
  filler->during = [](FillContext& context, std::size_t) {
    while (!context.stop().stop_requested()) std::this_thread::sleep_for(milliseconds(1));
  };
  Pipeline pipeline(filler, {.num_workers = 2});
  const Thread other("cancel", [&](const std::stop_token&) {
    std::this_thread::sleep_for(milliseconds(20));
    pipeline.cancel();
  });
  EXPECT_FALSE(pipeline.next());
  EXPECT_EQ(pipeline.ending(), Ending::kCancelled);
}

TEST(PipelineTest, AStopTokenEndsTheWait) {
  auto filler = std::make_shared<CountingFiller>(CountingFiller::kEndless);
  filler->during = [](FillContext& context, std::size_t) {
    while (!context.stop().stop_requested()) std::this_thread::sleep_for(milliseconds(1));
  };
  Pipeline pipeline(filler, {.num_workers = 2});
  std::stop_source stop;
  const Thread other("stop", [&](const std::stop_token&) {
    std::this_thread::sleep_for(milliseconds(20));
    stop.request_stop();
  });
  EXPECT_FALSE(pipeline.next(stop.get_token()));
  EXPECT_EQ(pipeline.ending(), Ending::kCancelled);
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
  for (const unsigned num_workers : {2U, 7U, 16U, 64U}) {
    for (const unsigned depth : {1U, 2U, 8U}) {
      auto filler = std::make_shared<CountingFiller>(120);
      filler->during = [](FillContext&, std::size_t) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      };
      Pipeline pipeline(filler, {.num_workers = num_workers, .depth = depth});
      while (pipeline.next()) {
      }
      const std::vector<std::uint64_t> fills = pipeline.stats().fills;
      const auto all = std::accumulate(fills.begin(), fills.end(), std::uint64_t{0});
      EXPECT_GE(all - *std::max_element(fills.begin(), fills.end()), 12U)
          << "done by others than the busiest of " << num_workers << " workers, depth " << depth;
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
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(count_fills(pipeline), 9U);
  EXPECT_EQ(pipeline.stats().num_asleep, 2U);
  pipeline.next();
  ASSERT_TRUE(falls_asleep(pipeline, 2));
  EXPECT_EQ(count_fills(pipeline), 14U);
}

TEST(PipelineTest, AConsumerThatIsNeverBehindSeesFewSlotsAgainAndAgain) {
  for (const unsigned num_workers : {0U, 1U}) {
    const auto filler = std::make_shared<CountingFiller>(CountingFiller::kEndless);
    filler->during = [](FillContext&, std::size_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    };
    Pipeline pipeline(filler, {.num_workers = num_workers, .depth = 40});
    std::set<std::uint32_t> seen;
    for (int i = 0; i < 60; ++i) seen.insert(pipeline.next().slot());
    EXPECT_LT(seen.size(), 20U) << num_workers << " workers";
  }
}

TEST(PipelineTest, StageTimesAreCounted) {
  auto filler = std::make_shared<CountingFiller>(10);
  filler->during = [](FillContext&, std::size_t stage) {
    if (stage == 1) std::this_thread::sleep_for(milliseconds(2));
  };
  Pipeline pipeline(filler, {.num_workers = 1});
  while (pipeline.next()) {
  }
  const PipelineStats stats = pipeline.stats();
  ASSERT_EQ(stats.stages.size(), 3U);
  EXPECT_EQ(stats.stages[1].name, "work");
  EXPECT_GE(stats.stages[1].busy_s, 0.02);
  EXPECT_LT(stats.stages[0].busy_s, 0.01);
  EXPECT_EQ(stats.num_delivered, 10U);
}

TEST(PipelineTest, HoldingEverySlotIsAnErrorAndNotAHang) {
  for (const unsigned num_workers : {0U, 2U}) {
    auto filler = std::make_shared<CountingFiller>(100);
    Pipeline pipeline(filler,
                      {.num_workers = num_workers, .depth = 2, .stall_limit = milliseconds(100)});
    std::vector<SlotLease> held;
    try {
      for (int i = 0; i < 10; ++i) held.push_back(pipeline.next());
      FAIL() << "ten leases of four slots";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &kPipeLeases);
      EXPECT_EQ(held.size(), 4U);
    }
  }
}

}  // namespace
}  // namespace stoker::pipeline
