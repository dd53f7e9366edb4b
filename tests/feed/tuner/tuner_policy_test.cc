// The tuner's decisions on simulated feeds whose best settings are known.
#include "stoker/feed/tuner/tuner_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/tuner/tuner_log.h"

namespace stoker::feed {
namespace {

// What a feed delivers in a quarter of a second with these knobs.
struct Simulated {
  std::function<double(const TunerKnobs&)> supply;  // batches/s
  double demand = 1e9;                              // batches/s
  unsigned num_cores = 2;
  double noise = 0;  // a window may lose up to this share

  TunerSample window(const TunerKnobs& knobs, KeyedDraws& draws) const {
    constexpr double kSeconds = 0.25;
    const double lost = noise * static_cast<double>(draws.next_below(1000)) / 1000;
    const double possible = supply(knobs) * (1 - lost);
    const double rate = std::min(possible, demand);
    return {.seconds = kSeconds,
            .num_batches = static_cast<std::uint64_t>(rate * kSeconds),
            .stall_share = std::clamp(1 - possible / demand, 0.0, 1.0),
            .cpu_share = std::min(1.0, static_cast<double>(knobs.at(TunerKnob::kWorkers)) /
                                           num_cores * rate / possible)};
  }
};

TunerKnobs knobs(unsigned workers, unsigned depth, unsigned read_ahead = 0) {
  return {{workers, depth, read_ahead, 0}};
}

TunerLimits limits(unsigned cores) { return {knobs(cores, 160, 512), 4 * cores}; }

// Lets the policy run on the simulated feed and keeps the log.
TunerLog run(const Simulated& feed, const TunerKnobs& start, const TunerLimits& most,
             unsigned num_windows, std::uint64_t seed = 1) {
  TunerPolicy policy(start, most);
  TunerLog log{start, most, {}};
  KeyedDraws draws({seed, "tuner noise", 0, 0});
  for (unsigned i = 0; i < num_windows; ++i) {
    const TunerSample sample = feed.window(policy.knobs(), draws);
    std::optional<TunerMove> move = policy.decide(sample);
    log.entries.push_back({sample, std::move(move)});
  }
  return log;
}

// Workers share the cores; less depth than workers leaves some without a slot.
double processor_bound(const TunerKnobs& at, unsigned cores) {
  const unsigned useful =
      std::min({at.at(TunerKnob::kWorkers), cores, at.at(TunerKnob::kDepth) + 1});
  return 1000.0 * useful;
}

TEST(TunerPolicyTest, ReachesTheBestFromOneWorkerAndDepthOne) {
  for (const unsigned cores : {2U, 4U, 16U, 64U}) {
    SCOPED_TRACE(cores);
    const Simulated feed{[cores](const TunerKnobs& at) { return processor_bound(at, cores); }, 1e9,
                         cores};
    const TunerLog log = run(feed, knobs(1, 1), limits(cores), 80);
    const TunerKnobs found = replay_tuner(log).knobs;
    EXPECT_GE(processor_bound(found, cores), 0.9 * 1000 * cores);
    EXPECT_LE(found.at(TunerKnob::kWorkers), cores);
  }
}

TEST(TunerPolicyTest, ReachesTheBestThroughNoise) {
  int reached = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Simulated feed{[](const TunerKnobs& at) { return processor_bound(at, 2); }, 1e9, 2, 0.3};
    const TunerKnobs found = replay_tuner(run(feed, knobs(1, 1), limits(2), 80, seed)).knobs;
    if (processor_bound(found, 2) >= 1800) ++reached;
  }
  EXPECT_GE(reached, 98);
}

TEST(TunerPolicyTest, LeavesAFeedAloneWhoseConsumerNeverWaits) {
  const Simulated feed{[](const TunerKnobs& at) { return processor_bound(at, 2); }, 500};
  const TunerLog log = run(feed, knobs(1, 1), limits(2), 200);
  EXPECT_TRUE(replay_tuner(log).moves.empty());
}

TEST(TunerPolicyTest, StopsAtWhatTheConsumerAsksFor) {
  const Simulated feed{[](const TunerKnobs& at) { return processor_bound(at, 16); }, 2500, 16};
  const TunerKnobs found = replay_tuner(run(feed, knobs(1, 4), limits(16), 200)).knobs;
  EXPECT_GE(found.at(TunerKnob::kWorkers), 3U);
  EXPECT_LE(found.at(TunerKnob::kWorkers), 5U);
}

TEST(TunerPolicyTest, UndoesAMoveThatDoesNotHelp) {
  const Simulated feed{[](const TunerKnobs&) { return 700.0; }};
  const TunerLog log = run(feed, knobs(2, 4, 16), limits(2), 100);
  const TunerReplay replay = replay_tuner(log);
  ASSERT_GE(replay.moves.size(), 6U);
  EXPECT_EQ(replay.knobs, knobs(2, 4, 16));
  for (std::size_t i = 0; i + 1 < replay.moves.size(); i += 2) {
    EXPECT_EQ(replay.moves[i].to, replay.moves[i + 1].from);
    EXPECT_EQ(replay.moves[i].from, replay.moves[i + 1].to);
    EXPECT_NE(replay.moves[i].reason.find("waits"), std::string::npos);
    EXPECT_NE(replay.moves[i + 1].reason.find("undone"), std::string::npos);
  }
}

TEST(TunerPolicyTest, ABufferThatBusyCoresNeverFillIsNotTriedLonger) {
  const auto moves_depth = [](const Simulated& feed, unsigned depth) {
    const TunerLog log = run(feed, knobs(2, depth), limits(2), 60);
    return std::any_of(log.entries.begin(), log.entries.end(), [](const TunerEntry& entry) {
      return entry.move && entry.move->knob == TunerKnob::kDepth;
    });
  };
  const Simulated busy{.supply = [](const TunerKnobs&) { return 1000.0; }};
  EXPECT_FALSE(moves_depth(busy, 4));
  EXPECT_TRUE(moves_depth(busy, 3));
  // Workers that wait leave the cores idle: somebody may hold the slots.
  const Simulated idle{.supply = [](const TunerKnobs&) { return 1000.0; }, .num_cores = 8};
  EXPECT_TRUE(moves_depth(idle, 4));
  // It waits a tenth of its time: there are pauses that a longer buffer may bridge.
  const Simulated paced{.supply = [](const TunerKnobs&) { return 1000.0; }, .demand = 1111};
  EXPECT_TRUE(moves_depth(paced, 4));
}

TEST(TunerPolicyTest, TriesLessAndLessOftenWhatDidNotHelp) {
  const Simulated feed{[](const TunerKnobs&) { return 700.0; }};
  const auto moves_in = [&](unsigned num_windows) {
    return replay_tuner(run(feed, knobs(2, 3, 16), limits(2), num_windows)).moves.size();
  };
  EXPECT_LT(moves_in(2000) - moves_in(1000), moves_in(1000) / 3);
}

TEST(TunerPolicyTest, MoreWorkersThanCoresOnlyWhileTheCoresAreIdle) {
  // Each batch waits for storage most of its time: up to eight at once help.
  Simulated feed{
      [](const TunerKnobs& at) { return 100.0 * std::min(at.at(TunerKnob::kWorkers), 8U); }};
  feed.num_cores = 64;  // so that the cores look idle
  const TunerKnobs found = replay_tuner(run(feed, knobs(1, 16), limits(2), 120)).knobs;
  EXPECT_GE(found.at(TunerKnob::kWorkers), 7U);
  EXPECT_LE(found.at(TunerKnob::kWorkers), 8U);
}

TEST(TunerPolicyTest, GoesOnWhenTheDemandRises) {
  Simulated feed{[](const TunerKnobs& at) { return processor_bound(at, 4); }, 900, 4};
  TunerPolicy policy(knobs(1, 8), limits(4));
  KeyedDraws draws({1, "tuner noise", 0, 0});
  for (int i = 0; i < 40; ++i) policy.decide(feed.window(policy.knobs(), draws));
  EXPECT_EQ(policy.knobs().at(TunerKnob::kWorkers), 1U);
  feed.demand = 3500;
  for (int i = 0; i < 40; ++i) policy.decide(feed.window(policy.knobs(), draws));
  EXPECT_EQ(policy.knobs().at(TunerKnob::kWorkers), 4U);
}

// A consumer that waits for a fiftieth of its time can gain no more than that: too little to tell
// from noise, and no reason to take its workers away.
TEST(TunerPolicyTest, KeepsWorkersThatABusyConsumerMayNeed) {
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Simulated feed{[](const TunerKnobs& at) { return processor_bound(at, 16); }, 12'240, 16,
                         0.01};
    const TunerReplay replay = replay_tuner(run(feed, knobs(12, 60), limits(15), 200, seed));
    for (const TunerMove& move : replay.moves) {
      if (move.knob != TunerKnob::kWorkers) continue;
      EXPECT_GT(move.to, move.from) << move.reason;
    }
    if (replay.knobs.at(TunerKnob::kWorkers) > 12) ++kept;
  }
  EXPECT_GE(kept, 49);
}

TEST(TunerPolicyTest, TakesWorkersAwayThatSlowTheFeed) {
  const Simulated feed{[](const TunerKnobs& at) {
    return at.at(TunerKnob::kWorkers) > 2 ? 800.0 : 400.0 * at.at(TunerKnob::kWorkers) + 400;
  }};
  EXPECT_EQ(replay_tuner(run(feed, knobs(1, 8), limits(8), 60)).knobs.at(TunerKnob::kWorkers), 2U);
}

// Cores are idle because the consumer is busy, not because workers wait for storage.
TEST(TunerPolicyTest, StartsNoMoreWorkersThanCoresForAConsumerThatHardlyWaits) {
  Simulated feed{[](const TunerKnobs&) { return 980.0; }, 1000, 64};
  const TunerReplay replay = replay_tuner(run(feed, knobs(15, 60), limits(15), 300));
  for (const TunerMove& move : replay.moves) EXPECT_NE(move.knob, TunerKnob::kWorkers);
}

// What a window of a buffer looks like: a pause as long as so many batches comes in every window.
TunerSample paused_window(unsigned length, unsigned pause) {
  const double missing = length >= pause ? 0 : static_cast<double>(pause - length);
  return {.seconds = 0.25,
          .num_batches = 250,
          .stall_share = 0.001,
          .buffer_stall_share = missing / 250,
          .slack_share = 0.8};
}

TunerLimits buffer_limits(TunerKnob buffer, unsigned least, unsigned most) {
  TunerLimits out = limits(4);
  out.most.at(buffer) = most;
  out.buffer = buffer;
  out.least_buffer = least;
  return out;
}

unsigned buffer_after(unsigned start, unsigned pause, const TunerLimits& most, int num_windows) {
  TunerKnobs begin = knobs(4, 16, 0);
  begin.at(*most.buffer) = start;
  TunerPolicy policy(begin, most);
  for (int i = 0; i < num_windows; ++i) {
    policy.decide(paused_window(policy.knobs().at(*most.buffer), pause));
    EXPECT_EQ(policy.knobs().at(TunerKnob::kWorkers), 4U);
  }
  return policy.knobs().at(*most.buffer);
}

TEST(TunerPolicyTest, ABufferBecomesAsLongAsThePausesOfItsSupply) {
  for (const TunerKnob buffer : {TunerKnob::kDepth, TunerKnob::kDeviceDepth}) {
    const unsigned found = buffer_after(10, 70, buffer_limits(buffer, 0, 4000), 40);
    EXPECT_GE(found, 69U);
    EXPECT_LE(found, 160U);
  }
}

TEST(TunerPolicyTest, ABufferStaysWithinItsMemory) {
  EXPECT_EQ(buffer_after(10, 500, buffer_limits(TunerKnob::kDeviceDepth, 0, 50), 100), 50U);
}

TEST(TunerPolicyTest, AFullBufferBecomesShorterAndNeverAsShortAsWhenAPauseWasMet) {
  const TunerLimits most = buffer_limits(TunerKnob::kDepth, 8, 1000);
  EXPECT_EQ(buffer_after(200, 0, most, 3000), 8U);
  const unsigned found = buffer_after(200, 70, most, 20'000);
  EXPECT_GE(found, 68U);
  EXPECT_LT(found, 160U);
  EXPECT_EQ(buffer_after(200, 0, buffer_limits(TunerKnob::kDepth, 0, 1000), 3000), 200U);
}

TEST(TunerLogTest, ABuffersLimitsAndWindowsAreWrittenToo) {
  TunerLimits most = buffer_limits(TunerKnob::kDeviceDepth, 8, 640);
  TunerLog log{{{4, 16, 0, 10}}, most, {}};
  TunerPolicy policy(log.start, most);
  for (int i = 0; i < 20; ++i) {
    const TunerSample sample = paused_window(policy.knobs().at(TunerKnob::kDeviceDepth), 70);
    log.entries.push_back({sample, policy.decide(sample)});
  }
  const TunerReplay replay = replay_tuner(TunerLog::parse(log.text()));
  EXPECT_FALSE(replay.first_difference);
  EXPECT_EQ(replay.knobs, policy.knobs());
  EXPECT_GT(replay.knobs.at(TunerKnob::kDeviceDepth), 60U);
}

TEST(TunerLogTest, ReplaysToTheSameMovesAfterBeingWritten) {
  const Simulated feed{[](const TunerKnobs& at) { return processor_bound(at, 8); }, 1e9, 8, 0.2};
  const TunerLog log = run(feed, knobs(1, 1), limits(8), 150);
  const TunerLog read = TunerLog::parse(log.text());
  EXPECT_EQ(read.text(), log.text());
  const TunerReplay replay = replay_tuner(read);
  EXPECT_FALSE(replay.first_difference);
  EXPECT_GT(replay.moves.size(), 4U);
}

TEST(TunerLogTest, AForeignMoveIsFound) {
  const Simulated feed{[](const TunerKnobs& at) { return processor_bound(at, 8); }, 1e9, 8};
  TunerLog log = run(feed, knobs(1, 1), limits(8), 50);
  for (TunerEntry& entry : log.entries) {
    if (!entry.move) continue;
    entry.move->to += 1;
    break;
  }
  EXPECT_TRUE(replay_tuner(log).first_difference);
}

TEST(TunerLogTest, WhatIsNoLogIsRefusedWithItsLine) {
  const std::string good = TunerLog{knobs(1, 1), limits(2), {}}.text();
  for (const std::string& text : {std::string(), std::string("{}"), good + "{\"seconds\":1}"}) {
    try {
      TunerLog::parse(text);
      FAIL() << text;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &kFeedTunerLog);
    }
  }
}

}  // namespace
}  // namespace stoker::feed
