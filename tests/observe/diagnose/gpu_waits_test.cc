// A consumer on a GPU that is late although batches are handed out in time: what its stream waits
// for.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "planted_evidence.h"
#include "stoker/observe/diagnose/diagnosis.h"

namespace stoker::observe {
namespace {

using feed::RecordStage;

constexpr double kSaidS = 5e-3;

// Steps that take longer than the 5 ms that the user said.
Evidence late_steps(double step_s, double consumer_cpu_share = 0.1) {
  PlantedRun run;
  run.change = [=](std::size_t, PlantedBatch& batch) {
    batch.step_s = step_s;
    batch.consumer_cpu_s = consumer_cpu_share * step_s;
  };
  Evidence evidence = plant(run);
  evidence.setup.is_on_gpu = true;
  evidence.watch.step_s = kSaidS;
  return evidence;
}

// The GPU times one batch of `every`.
Evidence with_device_time(Evidence evidence, RecordStage stage, double busy_s, std::size_t every) {
  std::vector<feed::BatchRecord>& records = evidence.watch.records;
  for (std::size_t i = 0; i < records.size(); i += every)
    records[i].stages[static_cast<std::size_t>(stage)].busy_ns = ns_of(busy_s);
  return evidence;
}

Evidence with_looks(Evidence evidence, std::int64_t was_busy) {
  for (std::size_t i = 0; i < evidence.watch.records.size(); i += 4)
    evidence.watch.records[i].gpu_was_busy = was_busy;
  return evidence;
}

Cause first_cause(const Diagnosis& diagnosis) {
  EXPECT_FALSE(diagnosis.causes.empty()) << diagnosis_text(diagnosis);
  return diagnosis.causes.empty() ? Cause::kStartUp : diagnosis.causes.front().cause;
}

TEST(GpuWaitsTest, CopiesThatFillTheTimeBetweenBatchesAreTheBusOrThePageableMemory) {
  for (const std::size_t every : {1U, 5U}) {
    Evidence evidence = with_device_time(late_steps(8e-3), RecordStage::kCopy, 7.6e-3, every);
    const Diagnosis pinned = judge(evidence);
    EXPECT_EQ(first_cause(pinned), Cause::kNarrowBus) << diagnosis_text(pinned);
    EXPECT_EQ(pinned.verdict, LoopVerdict::kStarved);
    EXPECT_NEAR(pinned.stall_share, 3.0 / 8, 0.02);
    EXPECT_NEAR(pinned.causes.front().share, 3.0 / 8, 0.02);
    evidence.setup.pins_memory = false;
    EXPECT_EQ(first_cause(judge(evidence)), Cause::kPageableCopies);
  }
}

TEST(GpuWaitsTest, ShortCopiesAreNotTheReason) {
  const Diagnosis found = judge(with_device_time(late_steps(8e-3), RecordStage::kCopy, 2e-3, 3));
  EXPECT_EQ(first_cause(found), Cause::kSlowStep) << diagnosis_text(found);
  EXPECT_EQ(found.verdict, LoopVerdict::kConsumer);
}

TEST(GpuWaitsTest, KernelsOfTheFeedAreNamedWhereTheyMakeMels) {
  Evidence evidence = with_device_time(late_steps(8e-3), RecordStage::kKernel, 3.2e-3, 2);
  EXPECT_EQ(first_cause(judge(evidence)), Cause::kSlowStep);
  evidence.setup.makes_mel_on_gpu = true;
  const Diagnosis found = judge(with_looks(evidence, 1));
  EXPECT_EQ(first_cause(found), Cause::kMelContention) << diagnosis_text(found);
  EXPECT_EQ(found.verdict, LoopVerdict::kStarved);
}

// Also where the feed's kernels run meanwhile: they have the GPU to themselves then.
TEST(GpuWaitsTest, AnIdleGpuWaitsForItsHost) {
  Evidence evidence = with_device_time(late_steps(8e-3), RecordStage::kKernel, 3.2e-3, 2);
  evidence.setup.makes_mel_on_gpu = true;
  const Diagnosis sync = judge(with_looks(evidence, 0));
  EXPECT_EQ(first_cause(sync), Cause::kHostSync) << diagnosis_text(sync);
  EXPECT_EQ(sync.verdict, LoopVerdict::kConsumer);
  EXPECT_EQ(first_cause(judge(with_looks(late_steps(8e-3, 0.97), 0))), Cause::kSmallKernels);
  EXPECT_EQ(first_cause(judge(with_looks(late_steps(8e-3), 1))), Cause::kSlowStep);
}

TEST(GpuWaitsTest, AFewLooksSayNothing) {
  Evidence evidence = late_steps(8e-3);
  for (std::size_t i = 0; i < 5; ++i) evidence.watch.records[40 * i].gpu_was_busy = 0;
  EXPECT_EQ(first_cause(judge(evidence)), Cause::kSlowStep);
}

// Who launches ahead asks early after a late step. Shapes alternate so that no step is long for its
// own.
TEST(GpuWaitsTest, StepsThatEvenOutAreNotSlow) {
  PlantedRun run;
  run.change = [](std::size_t i, PlantedBatch& batch) {
    batch.step_s = i % 2 == 0 ? 3e-3 : 7e-3;
    batch.shape = i % 2;
  };
  Evidence evidence = plant(run);
  evidence.setup.is_on_gpu = true;
  evidence.watch.step_s = kSaidS;
  const Diagnosis found = judge(evidence);
  EXPECT_EQ(found.verdict, LoopVerdict::kHealthy) << diagnosis_text(found);
}

// A look at a worker's processor time counts for the batches since the look before.
TEST(GpuWaitsTest, BatchesThatShareALookAtTheirWorkerShareItsTime) {
  Evidence each = plant({});
  Evidence shared = each;
  std::vector<std::int64_t> since(8, 0);
  for (std::size_t i = 0; i < shared.watch.records.size(); ++i) {
    feed::BatchRecord& record = shared.watch.records[i];
    std::int64_t& mine = since.at(static_cast<std::size_t>(record.worker));
    mine += record.worker_cpu_ns;
    record.worker_cpu_ns = i % 8 < 6 ? -1 : std::exchange(mine, 0);
  }
  const auto waiting_ms = [](const Evidence& evidence) {
    double sum = 0;
    for (const StageLine& line : judge(evidence).stages) sum += line.waiting_ms;
    return sum;
  };
  EXPECT_NEAR(waiting_ms(each), 0, 0.02);
  EXPECT_NEAR(waiting_ms(shared), waiting_ms(each), 0.02);
}

}  // namespace
}  // namespace stoker::observe
