// Every cause planted alone is named first, with a verdict that fits its side.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>

#include "planted_evidence.h"
#include "stoker/observe/diagnose/diagnosis.h"

namespace stoker::observe {
namespace {

using feed::ConsumerWork;
using feed::RecordStage;

struct Planted {
  Cause cause;
  std::function<Evidence()> evidence;
};

Evidence with_batches(const std::function<void(std::size_t, PlantedBatch&)>& change,
                      PlantedRun run = {}) {
  run.change = change;
  return plant(run);
}

Evidence with_stage(RecordStage stage, double cpu_ms, double blocked_ms = 0) {
  return with_batches([=](std::size_t, PlantedBatch& batch) {
    batch.cpu(stage) = 1e-3 * cpu_ms;
    batch.blocked(stage) = 1e-3 * blocked_ms;
  });
}

Evidence with_work(ConsumerWork work, std::size_t every, double work_ms) {
  return with_batches([=](std::size_t i, PlantedBatch& batch) {
    if (i % every == 0) batch.works_s[static_cast<std::size_t>(work)] = 1e-3 * work_ms;
  });
}

Evidence slow_storage() { return with_stage(RecordStage::kFetch, 0.1, 12); }

Evidence remote_storage() {
  Evidence evidence = slow_storage();
  evidence.watch.machine->storage.kind = StorageKind::kNetwork;
  evidence.watch.machine->storage.file_system = "nfs";
  return evidence;
}

Evidence tiny_files() {
  Evidence evidence = slow_storage();
  evidence.data.mean_file_bytes = 9000;
  return evidence;
}

Evidence slow_file() {
  return with_batches([](std::size_t i, PlantedBatch& batch) {
    if (i % 30 != 7) return;
    batch.cpu(RecordStage::kDecode) += 0.15;
    batch.slowest_s = 0.15;
    batch.slowest_file = "wavs/giant.wav";
    batch.slowest_stage = RecordStage::kDecode;
  });
}

// Four workers on four cores that others do not use.
Evidence mel_on_few_cores() {
  PlantedRun run{.num_workers = 4};
  return with_batches(
      [](std::size_t, PlantedBatch& batch) { batch.cpu(RecordStage::kMel) = 30e-3; }, run);
}

Evidence few_workers() {
  PlantedRun run{.num_workers = 1};
  return with_batches([](std::size_t, PlantedBatch& batch) { batch.cpu(RecordStage::kMel) = 8e-3; },
                      run);
}

Evidence many_workers() {
  PlantedRun run{.num_workers = 16, .depth = 32, .slowdown = 8};
  Evidence evidence = with_batches(
      [](std::size_t, PlantedBatch& batch) { batch.cpu(RecordStage::kMel) = 14e-3; }, run);
  evidence.watch.machine->cpu.num_allowed_cores = 2;
  evidence.watch.machine->cpu.run_queue_wait = 13;
  evidence.watch.machine->cpu.threads = {{"stoker-fill-0", 16, 2, 13}};
  return evidence;
}

Evidence cpu_quota() {
  PlantedRun run{.num_workers = 2, .slowdown = 2};
  Evidence evidence = with_batches(
      [](std::size_t, PlantedBatch& batch) { batch.cpu(RecordStage::kMel) = 8e-3; }, run);
  CpuWindow& cpu = evidence.watch.machine->cpu;
  cpu.quota_cores = 1;
  cpu.throttled_share = 0.8;
  cpu.threads = {{"stoker-fill-0", 2, 1, 1}};
  return evidence;
}

Evidence busy_neighbour() {
  PlantedRun run{.num_workers = 4, .slowdown = 4};
  Evidence evidence = with_batches(
      [](std::size_t, PlantedBatch& batch) { batch.cpu(RecordStage::kMel) = 8e-3; }, run);
  CpuWindow& cpu = evidence.watch.machine->cpu;
  cpu.other_cores = 3;
  cpu.threads = {{"stoker-fill-0", 4, 1, 3}};
  return evidence;
}

Evidence memory_pressure() {
  Evidence evidence = with_batches([](std::size_t, PlantedBatch& batch) {
    batch.blocked(RecordStage::kMel) = 10e-3;
    batch.num_major_faults = 40;
  });
  evidence.watch.machine->memory.pressure = 0.4;
  evidence.watch.machine->memory.swap_in_pages_per_s = 5000;
  return evidence;
}

Evidence small_buffer() {
  PlantedRun run{.num_workers = 2, .depth = 1};
  return with_batches(
      [](std::size_t i, PlantedBatch& batch) {
        batch.cpu(RecordStage::kMel) = i % 6 == 0 ? 30e-3 : 0.5e-3;
        batch.slowest_s = batch.cpu(RecordStage::kMel) / 16;
        batch.slowest_file = "wavs/" + std::to_string(i) + ".wav";
      },
      run);
}

Evidence with_transfer(RecordStage stage) {
  Evidence evidence = with_stage(stage, 9);
  evidence.setup.is_on_gpu = true;
  return evidence;
}

Evidence pageable_copies() {
  Evidence evidence = with_transfer(RecordStage::kCopy);
  evidence.setup.pins_memory = false;
  return evidence;
}

GpuWindow busy_gpu() {
  GpuWindow gpu;
  gpu.utilization_percent = 98;
  gpu.clock_mhz = gpu.max_clock_mhz = 1980;
  return gpu;
}

Evidence throttling() {
  Evidence evidence = plant({});
  evidence.setup.is_on_gpu = true;
  evidence.watch.machine->gpu = busy_gpu();
  evidence.watch.machine->gpu->clock_mhz = 900;
  evidence.watch.machine->gpu->throttled_share = 0.9;
  return evidence;
}

Evidence serial_stage() {
  Evidence evidence = with_stage(RecordStage::kMel, 3, 8);
  evidence.runs = {
      {.kind = RunKind::kSupply, .num_workers = 2, .batches_per_s = 140, .cpu_s_per_batch = 4e-3},
      {.kind = RunKind::kWorkers, .num_workers = 1, .batches_per_s = 135, .cpu_s_per_batch = 4e-3},
      {.kind = RunKind::kWorkers, .num_workers = 8, .batches_per_s = 139, .cpu_s_per_batch = 4e-3}};
  return evidence;
}

Evidence start_up() {
  return with_batches([](std::size_t i, PlantedBatch& batch) {
    if (i < 4) batch.blocked(RecordStage::kFetch) = 0.5;
  });
}

Evidence slow_step() {
  Evidence evidence = with_batches([](std::size_t, PlantedBatch& batch) { batch.step_s = 9e-3; });
  evidence.watch.step_s = 5e-3;
  return evidence;
}

Evidence unnamed_rhythm() {
  return with_batches([](std::size_t i, PlantedBatch& batch) {
    if (i % 10 == 0) batch.step_s = 30e-3;
  });
}

Evidence idle_gpu(double consumer_cpu_s) {
  Evidence evidence = with_batches(
      [=](std::size_t, PlantedBatch& batch) { batch.consumer_cpu_s = consumer_cpu_s; });
  evidence.setup.is_on_gpu = true;
  evidence.watch.machine->gpu = busy_gpu();
  evidence.watch.machine->gpu->utilization_percent = 40;
  return evidence;
}

Evidence holds_batches() {
  PlantedRun run{.num_workers = 2, .depth = 4, .num_held = 5};
  return with_batches([](std::size_t, PlantedBatch& batch) { batch.step_s = 2.2e-3; }, run);
}

Evidence uneven_ranks() {
  Evidence evidence = with_work(ConsumerWork::kSync, 1, 2);
  evidence.setup.world_size = 4;
  return evidence;
}

Evidence padding() {
  return with_batches([](std::size_t, PlantedBatch& batch) { batch.padded_frames = 16000; });
}

std::vector<Planted> all_planted() {
  return {
      {Cause::kStorageSlow, slow_storage},
      {Cause::kRemoteStorage, remote_storage},
      {Cause::kTinyFiles, tiny_files},
      {Cause::kSlowFile, slow_file},
      {Cause::kDecode, [] { return with_stage(RecordStage::kDecode, 12); }},
      {Cause::kResample, [] { return with_stage(RecordStage::kResample, 12); }},
      {Cause::kMel, mel_on_few_cores},
      {Cause::kText, [] { return with_stage(RecordStage::kText, 12); }},
      {Cause::kAssembly, [] { return with_stage(RecordStage::kAssemble, 12); }},
      {Cause::kPadding, padding},
      {Cause::kFewWorkers, few_workers},
      {Cause::kManyWorkers, many_workers},
      {Cause::kCpuQuota, cpu_quota},
      {Cause::kBusyNeighbour, busy_neighbour},
      {Cause::kMemoryPressure, memory_pressure},
      {Cause::kSmallBuffer, small_buffer},
      {Cause::kPageableCopies, pageable_copies},
      {Cause::kNarrowBus, [] { return with_transfer(RecordStage::kCopy); }},
      {Cause::kMelContention, [] { return with_transfer(RecordStage::kKernel); }},
      {Cause::kThrottling, throttling},
      {Cause::kSerialStage, serial_stage},
      {Cause::kStartUp, start_up},
      {Cause::kSlowStep, slow_step},
      {Cause::kLogging, [] { return with_work(ConsumerWork::kLogging, 10, 20); }},
      {Cause::kCheckpoint, [] { return with_work(ConsumerWork::kCheckpoint, 50, 200); }},
      {Cause::kValidation, [] { return with_work(ConsumerWork::kValidation, 100, 300); }},
      {Cause::kHostWork, unnamed_rhythm},
      {Cause::kHostSync, [] { return idle_gpu(0.2e-3); }},
      {Cause::kSmallKernels, [] { return idle_gpu(4.9e-3); }},
      {Cause::kHoldsBatches, holds_batches},
      {Cause::kUnevenRanks, uneven_ranks},
  };
}

std::string shown(const Diagnosis& diagnosis) { return diagnosis_text(diagnosis); }

TEST(Causes, EachPlantedAloneIsFirst) {
  for (const Planted& planted : all_planted()) {
    const Diagnosis diagnosis = judge(planted.evidence());
    SCOPED_TRACE(std::string(info_of(planted.cause).id) + "\n" + shown(diagnosis));
    ASSERT_FALSE(diagnosis.causes.empty());
    EXPECT_EQ(info_of(diagnosis.causes.front().cause).id, info_of(planted.cause).id);
    EXPECT_FALSE(diagnosis.causes.front().evidence.empty());
    EXPECT_GT(diagnosis.causes.front().share, 0);
  }
}

TEST(Causes, EveryOneHasAPlantedCase) {
  std::set<Cause> planted;
  for (const Planted& each : all_planted()) planted.insert(each.cause);
  EXPECT_EQ(planted.size(), all_causes().size());
}

TEST(Causes, OfTheFeedStarveAndOthersDoNot) {
  for (const Planted& planted : all_planted()) {
    const Diagnosis diagnosis = judge(planted.evidence());
    SCOPED_TRACE(info_of(planted.cause).id);
    const bool waits = planted.cause == Cause::kHoldsBatches ||
                       (info_of(planted.cause).side == CauseSide::kFeed &&
                        planted.cause != Cause::kPadding && planted.cause != Cause::kStartUp);
    EXPECT_EQ(diagnosis.verdict == LoopVerdict::kStarved, waits);
  }
}

TEST(Causes, AHealthyRunHasNone) {
  Evidence evidence = plant({});
  evidence.runs = {{.kind = RunKind::kSupply, .num_workers = 2, .batches_per_s = 500}};
  const Diagnosis diagnosis = judge(evidence);
  EXPECT_EQ(diagnosis.verdict, LoopVerdict::kHealthy);
  EXPECT_TRUE(diagnosis.causes.empty());
  EXPECT_TRUE(diagnosis.cures.empty());
  EXPECT_EQ(diagnosis.sentence,
            "The feed is not your bottleneck; it could bring 2.5 times as much.");
}

TEST(Causes, EachHasASectionInTheGuide) {
  std::ifstream file(STOKER_SOURCE_DIR "/docs/guide/why-does-my-gpu-idle.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const CauseInfo& info : all_causes())
    EXPECT_NE(text.str().find("\n### `" + std::string(info.id) + "`"), std::string::npos)
        << info.id;
}

}  // namespace
}  // namespace stoker::observe
