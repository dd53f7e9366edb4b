// Causes that look alike: what tells one from the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "planted_evidence.h"
#include "stoker/observe/diagnose/diagnosis.h"

namespace stoker::observe {
namespace {

// Mels that one worker at a time makes.
Evidence serial_stage() {
  PlantedRun run;
  run.change = [](std::size_t, PlantedBatch& batch) {
    batch.cpu(feed::RecordStage::kMel) = 3e-3;
    batch.blocked(feed::RecordStage::kMel) = 8e-3;
  };
  Evidence evidence = plant(run);
  evidence.runs = {{.kind = RunKind::kSupply, .num_workers = 2, .batches_per_s = 140},
                   {.kind = RunKind::kWorkers, .num_workers = 1, .batches_per_s = 135},
                   {.kind = RunKind::kWorkers, .num_workers = 8, .batches_per_s = 139}};
  return evidence;
}

bool is_suspected(const Diagnosis& diagnosis, Cause cause) {
  return std::any_of(diagnosis.causes.begin(), diagnosis.causes.end(),
                     [cause](const auto& found) { return found.cause == cause; });
}

// Every third batch is held up by one utterance, of a file that `file` names.
Evidence held_up(Evidence evidence, const std::function<std::string(std::size_t)>& file) {
  std::vector<feed::BatchRecord>& records = evidence.watch.records;
  for (std::size_t i = 0; i < records.size(); i += 3) {
    const std::string name = file(i);
    std::copy_n(name.c_str(), name.size() + 1, records[i].slowest_file.begin());
    records[i].slowest_ns = 8'000'000;
  }
  return evidence;
}

// Batches are handed out in order: behind a lock and behind a slow file more workers bring no more.
TEST(AlikeCauses, ALockIsToldFromASlowFileByHowManyFilesWereSlow) {
  const Diagnosis many = judge(
      held_up(serial_stage(), [](std::size_t i) { return "wavs/" + std::to_string(i) + ".wav"; }));
  EXPECT_TRUE(is_suspected(many, Cause::kSerialStage)) << diagnosis_text(many);
  EXPECT_FALSE(is_suspected(many, Cause::kSlowFile)) << diagnosis_text(many);
  const Diagnosis one = judge(held_up(serial_stage(), [](std::size_t) { return "wavs/a.wav"; }));
  EXPECT_FALSE(is_suspected(one, Cause::kSerialStage)) << diagnosis_text(one);
  EXPECT_TRUE(is_suspected(one, Cause::kSlowFile)) << diagnosis_text(one);
}

}  // namespace
}  // namespace stoker::observe
