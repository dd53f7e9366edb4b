// Every public call of the engine as an actor of its own, while one consumer thread hands over to
// another: seeded schedules, and scripts drawn from the same seed. STOKER_TEST_SCHEDULES sets how
// many.
#include <gtest/gtest.h>

#include <cstdlib>

#include "stoker/base/error.h"
#include "stoker/base/philox.h"
#include "stoker/pipeline/pipeline.h"
#include "tests/doubles/pct_scheduler.h"
#include "tests/pipeline/counting_filler.h"

namespace stoker::pipeline {
namespace {

constexpr std::uint64_t kItems = 12;
constexpr unsigned kMaxDepth = 9;

std::uint64_t num_schedules(std::uint64_t usual) {
  const char* const text = std::getenv("STOKER_TEST_SCHEDULES");
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

// What both consumers and the others share: one pipeline, and the baton that says who may call
// next().
struct Stage {
  Stage(const PctScheduler& scheduler, KeyedDraws& draws)
      : filler(std::make_shared<CountingFiller>(kItems)),
        pipeline(std::make_unique<Pipeline>(
            filler, PipelineOptions{.num_workers = static_cast<unsigned>(draws.next_below(4)),
                                    .max_workers = 4,
                                    .depth = 3 + static_cast<unsigned>(draws.next_below(7)),
                                    .max_depth = kMaxDepth,
                                    .stall_limit = std::chrono::nanoseconds(0),
                                    .end_limit = std::chrono::nanoseconds(0),
                                    .clock = &scheduler.clock()})) {}

  void await_turn(int who) {
    Lock lock(mutex);
    while (turn != who) passed.wait(lock, {});
  }
  void pass_on(int to) {
    const Lock lock(mutex);
    turn = to;
    passed.notify_all();
  }

  std::shared_ptr<CountingFiller> filler;
  std::unique_ptr<Pipeline> pipeline;
  std::uint64_t next_number = 0;  // of whoever holds the baton
  Mutex mutex;
  ConditionVariable passed;
  int turn STOKER_GUARDED_BY(mutex) = 0;
};

// Fewer leases than there are slots at the smallest depth, whatever both consumers hold.
constexpr std::size_t kMostHeld = 2;

struct Script {
  explicit Script(KeyedDraws& draws) {
    for (unsigned& step : steps) step = static_cast<unsigned>(draws.next_below(1U << 16U));
  }
  unsigned next() { return steps[at++ % steps.size()]; }
  std::array<unsigned, 32> steps{};
  std::size_t at = 0;
};

// Takes a few batches, passes the baton on, and only then gives the batches back: while the other
// one takes.
void consume(Stage& stage, int who, Script script) {
  std::vector<SlotLease> held;
  bool is_over = false;
  while (!is_over) {
    stage.await_turn(who);
    for (unsigned left = 1 + script.next() % 3; left > 0 && !is_over; --left) {
      while (held.size() >= kMostHeld) held.erase(held.begin());
      if (script.next() % 4 == 0) static_cast<void>(stage.pipeline->peek());
      SlotLease lease = stage.pipeline->next();
      is_over = !lease;
      if (is_over) break;
      EXPECT_EQ(lease.sequence(), stage.next_number);
      EXPECT_EQ(stage.filler->value(lease.slot()), lease.sequence() * lease.sequence());
      ++stage.next_number;
      held.push_back(std::move(lease));
    }
    stage.pass_on(1 - who);
    while (!held.empty() && script.next() % 3 != 0) held.erase(held.begin());
  }
}

// Everything else that may be called meanwhile.
void interfere(Stage& stage, Script script, std::size_t num_calls) {
  for (std::size_t i = 0; i < num_calls; ++i) {
    switch (script.next() % 5) {
      case 0:
        stage.pipeline->set_num_workers(0);
        break;
      case 1:
        stage.pipeline->set_num_workers(script.next() % 5);
        break;
      case 2:
        stage.pipeline->set_depth(3 + script.next() % 7);
        break;
      case 3:
        static_cast<void>(stage.pipeline->stats());
        break;
      default:
        EXPECT_FALSE(stage.pipeline->debug_string().empty());
        static_cast<void>(stage.pipeline->ending());
    }
  }
}

TEST(ConsumerScheduleTest, ConsumersHandOverWhileEverythingElseIsCalled) {
  std::uint64_t seed = 1;
  explore_schedules(num_schedules(3000), seed, [&](PctScheduler& scheduler) {
    KeyedDraws draws({.seed = seed++, .stage = "test/consumers", .epoch = 0, .item = 0});
    Stage stage(scheduler, draws);
    {
      const Thread first("first", [&, script = Script(draws)](const std::stop_token&) {
        consume(stage, 0, script);
      });
      const Thread second("second", [&, script = Script(draws)](const std::stop_token&) {
        consume(stage, 1, script);
      });
      interfere(stage, Script(draws), draws.next_below(6));
    }
    ASSERT_EQ(stage.next_number, kItems);
    ASSERT_EQ(stage.pipeline->ending(), Ending::kEnd);
  });
}

// The old consumer gives its slots back, and so publishes its head, while the new one waits: the
// shortest program with that race.
TEST(ConsumerScheduleTest, AnOldConsumerGivesBackWhileTheNewOneWaits) {
  explore_schedules(num_schedules(2000), 1, [](PctScheduler& scheduler) {
    auto filler = std::make_shared<CountingFiller>(6);
    Pipeline pipeline(filler, {.num_workers = 1,
                               .max_workers = 1,
                               .depth = 1,
                               .max_depth = 1,
                               .stall_limit = std::chrono::nanoseconds(0),
                               .end_limit = std::chrono::nanoseconds(0),
                               .clock = &scheduler.clock()});
    SlotLease first = pipeline.next();  // of three slots: with two of them the worker has to stop
    SlotLease second = pipeline.next();
    const Thread taker("new", [&](const std::stop_token&) {
      for (std::uint64_t expected = 2; expected < 6; ++expected)
        EXPECT_EQ(pipeline.next().sequence(), expected);
      EXPECT_FALSE(pipeline.next());
    });
    first.release();
    second.release();
  });
}

// The destructor, a cancel and a stop come at any moment; leases are given back after them too.
TEST(ConsumerScheduleTest, EndsWhileLeasesAreOutAndCallsAreMade) {
  std::uint64_t seed = 1;
  explore_schedules(num_schedules(2000), seed, [&](PctScheduler& scheduler) {
    KeyedDraws draws({.seed = seed++, .stage = "test/ends", .epoch = 0, .item = 0});
    Stage stage(scheduler, draws);
    std::vector<SlotLease> out;
    std::stop_source stop;
    {
      const Thread consumer("consumer", [&](const std::stop_token&) {
        while (SlotLease lease = stage.pipeline->next(stop.get_token())) {
          out.push_back(std::move(lease));
          if (out.size() > kMostHeld) out.erase(out.begin());
        }
      });
      interfere(stage, Script(draws), draws.next_below(3));
      if (draws.next_below(2) == 0) {
        stage.pipeline->cancel();
      } else {
        stop.request_stop();
      }
    }
    const Thread late("late", [&](const std::stop_token&) { out.clear(); });
    stage.pipeline.reset();
  });
}

}  // namespace
}  // namespace stoker::pipeline
