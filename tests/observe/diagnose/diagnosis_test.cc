// Patterns and predictions of planted runs, and what holds for any evidence.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "planted_evidence.h"
#include "stoker/base/machine_figures.h"
#include "stoker/base/philox.h"
#include "stoker/observe/diagnose/diagnosis.h"
#include "stoker/observe/diagnose/queue_simulation.h"
#include "stoker/observe/diagnose/supply_model.h"

namespace stoker::observe {
namespace {

using feed::RecordStage;

Evidence every_eighth(double extra_s, bool in_consumer) {
  PlantedRun run{.num_workers = 1, .depth = 1};
  run.change = [=](std::size_t i, PlantedBatch& batch) {
    if (i % 8 != 3) return;
    if (in_consumer) {
      batch.works_s[static_cast<std::size_t>(feed::ConsumerWork::kLogging)] = extra_s;
    } else {
      batch.blocked(RecordStage::kFetch) = extra_s;
    }
  };
  return plant(run);
}

TEST(Oscillation, FindsAStallEveryEighthBatchAndItsStage) {
  const Diagnosis diagnosis = judge(every_eighth(40e-3, false));
  EXPECT_TRUE(diagnosis.oscillation.is_present);
  EXPECT_EQ(diagnosis.oscillation.period_batches, 8U);
  EXPECT_EQ(diagnosis.oscillation.what, "fetch of the feed");
  EXPECT_NE(diagnosis_text(diagnosis).find("HIGH VARIATION DETECTED: cyclic pattern, period 8"),
            std::string::npos);
}

TEST(Oscillation, NamesTheConsumersWork) {
  const Oscillation found = find_oscillation(every_eighth(40e-3, true));
  EXPECT_EQ(found.period_batches, 8U);
  EXPECT_EQ(found.what, "logging of the consumer");
}

TEST(Oscillation, OnePauseHidesNothing) {
  Evidence evidence = every_eighth(40e-3, false);
  for (std::size_t i = 101; i < evidence.watch.records.size(); ++i) {
    evidence.watch.records[i].asked_ns += 900'000'000;
    evidence.watch.records[i].handed_ns += 900'000'000;
  }
  EXPECT_EQ(find_oscillation(evidence).period_batches, 8U);
}

TEST(Oscillation, NoneWithoutARhythm) {
  KeyedDraws draws({1, "test", 0, 0});
  PlantedRun run;
  run.change = [&](std::size_t, PlantedBatch& batch) {
    batch.step_s = draws.next_between(1e-3, 20e-3);
  };
  EXPECT_FALSE(find_oscillation(plant(run)).is_present);
  EXPECT_FALSE(find_oscillation(plant({})).is_present);
}

TEST(Simulation, GivesWhatArithmeticGives) {
  const std::vector<SimulatedBatch> batches(200, {.cpu_s = 8e-3, .consumer_s = 1e-3});
  EXPECT_NEAR(simulate(batches, {.num_workers = 1, .num_cores = 4, .depth = 4}).interval_s, 8e-3,
              1e-6);
  EXPECT_NEAR(simulate(batches, {.num_workers = 4, .num_cores = 4, .depth = 4}).interval_s, 2e-3,
              2e-4);
  EXPECT_NEAR(simulate(batches, {.num_workers = 4, .num_cores = 2, .depth = 4}).interval_s, 4e-3,
              2e-4);
  EXPECT_NEAR(simulate(batches, {.num_workers = 0, .num_cores = 4}).interval_s, 9e-3, 1e-6);
  const std::vector<SimulatedBatch> waiting(200, {.blocked_s = 8e-3, .consumer_s = 1e-3});
  EXPECT_NEAR(simulate(waiting, {.num_workers = 4, .num_cores = 1, .depth = 6}).interval_s, 2e-3,
              2e-4);
}

// Hours of simulated time: what is left of a batch's work may be lost when it is added to them.
TEST(Simulation, EndsWithStepsOfMinutes) {
  std::vector<SimulatedBatch> batches;
  for (int i = 1; i <= 600; ++i)
    batches.push_back({.cpu_s = 90.0 + 1.0 / i, .consumer_s = 1.0 / (7.0 * i)});
  const SimulatedRun run = simulate(batches, {.num_workers = 3, .num_cores = 2, .depth = 4});
  EXPECT_NEAR(run.interval_s, 45, 1);
}

TEST(Cures, PredictWhatTheChangeBrings) {
  PlantedRun slow{.num_workers = 1};
  slow.change = [](std::size_t, PlantedBatch& batch) { batch.cpu(RecordStage::kMel) = 8e-3; };
  PlantedRun cured = slow;
  cured.num_workers = 4;
  const Diagnosis before = judge(plant(slow)), after = judge(plant(cured));
  const double truth = after.batches_per_s / before.batches_per_s;
  bool found = false;
  for (const Cure& cure : before.cures) {
    if (cure.set != std::vector<std::string>{"data.num_workers=4"}) continue;
    found = true;
    EXPECT_NEAR(cure.predicted_gain, truth, 0.1 * truth);
    EXPECT_LE(cure.predicted_low, truth);
    EXPECT_GE(cure.predicted_high, truth);
    EXPECT_EQ(cure.flags, "--num-workers 4");
  }
  EXPECT_TRUE(found);
}

TEST(Cures, TheNativeLoaderIsPredictedFromItsRun) {
  Evidence evidence = plant({.num_workers = 0});
  evidence.setup.is_native = false;
  evidence.runs = {{.kind = RunKind::kSupply, .num_workers = 0, .batches_per_s = 250},
                   {.kind = RunKind::kNative, .num_workers = 2, .batches_per_s = 480}};
  const Diagnosis diagnosis = judge(evidence);
  EXPECT_EQ(diagnosis.causes.front().cause, Cause::kFewWorkers);
  ASSERT_FALSE(diagnosis.cures.empty());
  // 4 ms of loading and 5 ms of a step one after the other, against 5 ms.
  EXPECT_EQ(diagnosis.cures.front().set.front(), "data.use_native_loading=true");
  EXPECT_NEAR(diagnosis.cures.front().predicted_gain, 9.02 / 5, 0.09);
  for (const Cure& cure : diagnosis.cures) EXPECT_NE(cure.flags, "--num-workers 4");
}

PlantedRun random_run(KeyedDraws& draws) {
  PlantedRun run{.num_batches = 20 + draws.next_below(100),
                 .num_workers = static_cast<unsigned>(draws.next_below(6)),
                 .depth = 1 + static_cast<unsigned>(draws.next_below(8)),
                 .num_held = 1 + static_cast<unsigned>(draws.next_below(2))};
  const auto stage = static_cast<std::size_t>(draws.next_below(feed::kNumRecordStages - 1));
  const double cpu_s = draws.next_between(0, 20e-3), blocked_s = draws.next_between(0, 20e-3);
  run.change = [&draws, stage, cpu_s, blocked_s](std::size_t, PlantedBatch& batch) {
    batch.cpu_s[stage] += cpu_s * draws.next_unit();
    batch.blocked_s[stage] += blocked_s;
    batch.step_s = draws.next_between(0, 10e-3);
    batch.works_s[draws.next_below(feed::kNumConsumerWorks)] = draws.next_between(0, 2e-3);
    batch.padded_frames = batch.num_frames + static_cast<std::uint32_t>(draws.next_below(9000));
  };
  return run;
}

void expect_sound(const Evidence& evidence) {
  const Diagnosis diagnosis = judge(evidence);
  double sum = 0;
  for (const NamedCause& cause : diagnosis.causes) {
    EXPECT_TRUE(std::isfinite(cause.share));
    EXPECT_GE(cause.share, 0);
    sum += cause.share;
  }
  EXPECT_LE(sum, 1 + 1e-6);
  for (const Cure& cure : diagnosis.cures) {
    EXPECT_TRUE(std::isfinite(cure.predicted_gain));
    EXPECT_LE(cure.predicted_low, cure.predicted_gain);
    EXPECT_GE(cure.predicted_high, cure.predicted_gain);
  }
  EXPECT_GE(diagnosis.confidence, 0);
  EXPECT_LE(diagnosis.confidence, 1);
  EXPECT_EQ(diagnosis_json(diagnosis).dump().find("nan"), std::string::npos);
}

// More cores, slots and less work never make a modelled feed slower by more than the order of
// events can.
void expect_monotone(const Evidence& evidence) {
  constexpr double kSlack = 1.05;
  const SupplyModel model(evidence);
  if (model.is_empty()) return;
  Scenario more_cores, deeper, no_mel;
  more_cores.cores = 2 * model.cores().available;
  deeper.depth = evidence.setup.depth + 8;
  no_mel.drop(RecordStage::kMel);
  for (const Scenario& better : {more_cores, deeper, no_mel})
    EXPECT_LE(model.predict(better).interval_s, kSlack * model.base().interval_s);
}

TEST(Diagnosis, IsSoundForAnyEvidence) {
  KeyedDraws draws({22, "evidence", 0, 0});
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    const Evidence evidence = plant(random_run(draws));
    expect_sound(evidence);
    expect_monotone(evidence);
  }
  expect_sound({});
  expect_sound(plant({.num_batches = 1}));
  expect_sound(plant({.num_batches = 2}));
}

// As many as a feed hands out in ten seconds at full speed.
TEST(Diagnosis, IsQuickForManyBatches) {
  constexpr double kMostS = 10;
  PlantedRun run{.num_batches = 100'000};
  run.change = [](std::size_t i, PlantedBatch& batch) {
    batch.shape = static_cast<std::uint32_t>(i % 7);
    batch.step_s = i % 8 == 0 ? 9e-3 : 5e-3;
  };
  const Evidence evidence = plant(run);
  const double begun_s = thread_cpu_s();
  EXPECT_EQ(judge(evidence).oscillation.period_batches, 8U);
  EXPECT_LT(thread_cpu_s() - begun_s, kMostS);
}

}  // namespace
}  // namespace stoker::observe
