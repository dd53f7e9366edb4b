// A whole feed under seeded schedules: consumers hand over, seek, hold and give back batches while
// another thread turns the knobs and looks. STOKER_TEST_SCHEDULES sets how many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>

#include "stoker/base/philox.h"
#include "tests/doubles/pct_scheduler.h"
#include "tests/feed/device/simulated_device.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kEpochs = 3;

std::uint64_t num_schedules(std::uint64_t usual) {
  const char* const text = std::getenv("STOKER_TEST_SCHEDULES");
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

// Epochs of a few small batches; every wait is one that the schedule decides.
FeedSetup small_setup(const PctScheduler& scheduler, KeyedDraws& draws) {
  static const auto store = std::make_shared<SyntheticSource>(
      std::vector<SampledUtterance>(3, SampledUtterance{.num_frames = 8, .num_tokens = 4}));
  FeedSetup setup = synthetic_setup(store);
  setup.order.batch_frames = 8;
  setup.num_epochs = kEpochs;
  setup.loading.num_workers = static_cast<unsigned>(draws.next_below(3));
  setup.loading.max_workers = 3;
  setup.loading.depth = 1 + static_cast<unsigned>(draws.next_below(3));
  setup.loading.buffer_bytes = 64 << 10U;
  setup.loading.stall_limit = std::chrono::nanoseconds(0);
  setup.loading.end_limit = std::chrono::nanoseconds(0);
  setup.loading.clock = &scheduler.clock();
  return setup;
}

struct Shared {
  explicit Shared(Feed& given) : feed(given) {}

  Feed& feed;
  std::uint64_t num_seeks = 1;
  bool is_over = false;
  Mutex mutex;
  ConditionVariable passed;
  int turn STOKER_GUARDED_BY(mutex) = 0;

  void await_turn(int who) {
    Lock lock(mutex);
    while (turn != who) passed.wait(lock, {});
  }
  void pass_on(int to) {
    const Lock lock(mutex);
    turn = to;
    passed.notify_all();
  }
};

// Whoever has the turn takes a few batches, and gives them back when the other one has it.
void consume(Shared& shared, int who, KeyedDraws draws) {
  std::deque<Batch> held;
  for (bool is_over = false; !is_over;) {
    shared.await_turn(who);
    for (std::uint64_t left = 1 + draws.next_below(3); left > 0 && !shared.is_over; --left) {
      if (!held.empty()) held.pop_front();
      if (draws.next_below(6) == 0 && shared.num_seeks > 0) {
        --shared.num_seeks;
        shared.feed.seek({0, draws.next_below(3)});
      }
      const FeedPosition at = shared.feed.position();
      if (auto batch = shared.feed.next()) {
        EXPECT_EQ(batch->epoch(), at.epoch);
        EXPECT_EQ(batch->index(), at.batch);
        held.push_back(std::move(*batch));
      }
      shared.is_over = shared.feed.has_ended();
    }
    is_over = shared.is_over;
    shared.pass_on(1 - who);
    while (!held.empty() && draws.next_below(3) != 0) held.pop_front();
  }
}

void interfere(Feed& feed, KeyedDraws draws) {
  for (std::uint64_t left = draws.next_below(4); left > 0; --left) {
    switch (draws.next_below(4)) {
      case 0:
        feed.set_num_workers(static_cast<unsigned>(draws.next_below(4)));
        break;
      case 1:
        feed.set_depth(1 + static_cast<unsigned>(draws.next_below(4)));
        break;
      case 2:
        static_cast<void>(feed.stats());
        break;
      default:
        static_cast<void>(feed.debug_string());
    }
  }
}

void run(FeedSetup setup, std::uint64_t seed) {
  Feed feed(std::move(setup));
  Shared shared(feed);
  const auto script = [seed](std::uint64_t who) {
    return KeyedDraws({.seed = seed, .stage = "test/feed", .epoch = 1, .item = who});
  };
  {
    const Thread first("first", [&](const std::stop_token&) { consume(shared, 0, script(0)); });
    const Thread second("second", [&](const std::stop_token&) { consume(shared, 1, script(1)); });
    interfere(feed, script(2));
  }
  EXPECT_TRUE(feed.has_ended());
}

TEST(FeedScheduleTest, ConsumersHandOverAndSeekWhileKnobsTurn) {
  std::uint64_t seed = 1;
  explore_schedules(num_schedules(500), seed, [&](PctScheduler& scheduler) {
    KeyedDraws draws({.seed = ++seed, .stage = "test/feed", .epoch = 0, .item = 0});
    run(small_setup(scheduler, draws), seed);
  });
}

TEST(FeedScheduleTest, AndOnOneGpuAndTwo) {
  std::uint64_t seed = 1;
  explore_schedules(num_schedules(200), seed, [&](PctScheduler& scheduler) {
    KeyedDraws draws({.seed = ++seed, .stage = "test/feed", .epoch = 0, .item = 0});
    SimulatedGpu gpu({.num_devices = 2, .seed = seed});
    FeedSetup setup = small_setup(scheduler, draws);
    DeviceCase wanted{.payload = SlotPayload::kRaggedMel, .buffer_size = 4};
    if (draws.next_below(2) == 0) wanted.model_device = 1;
    if (draws.next_below(4) == 0) wanted.ahead = DeviceAhead::kOnDemand;
    setup.device = simulated_device(gpu, wanted);
    run(std::move(setup), seed);
  });
}

}  // namespace
}  // namespace stoker::feed
