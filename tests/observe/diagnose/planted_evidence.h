// Evidence as a run would give it, made by arithmetic: a feed of workers and slots played for a few
// hundred batches, so that tests can plant one cause and nothing else.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "stoker/observe/diagnose/evidence.h"

namespace stoker::observe {

struct PlantedBatch {
  std::array<double, feed::kNumRecordStages> cpu_s{}, blocked_s{};
  double step_s = 5e-3;
  std::array<double, feed::kNumConsumerWorks> works_s{};
  double slowest_s = 0.2e-3;
  std::string slowest_file = "wavs/a.wav";
  feed::RecordStage slowest_stage = feed::RecordStage::kMel;
  std::uint32_t num_rows = 16, num_frames = 8000, padded_frames = 8200, shape = 0;
  std::uint32_t num_major_faults = 0;
  double consumer_cpu_s = 0;

  double& cpu(feed::RecordStage stage) { return cpu_s[static_cast<std::size_t>(stage)]; }
  double& blocked(feed::RecordStage stage) { return blocked_s[static_cast<std::size_t>(stage)]; }
};

// Healthy by default: 2 workers of 4 cores make a batch in 4 ms each, the consumer takes one every
// 5 ms.
struct PlantedRun {
  std::size_t num_batches = 240;
  unsigned num_workers = 2, depth = 8, num_held = 1;
  double slowdown = 1;  // of processor time: workers that share cores
  std::function<void(std::size_t, PlantedBatch&)> change = [](std::size_t, PlantedBatch&) {};
};

inline PlantedBatch usual_batch() {
  using feed::RecordStage;
  PlantedBatch batch;
  batch.cpu(RecordStage::kPlan) = 0.02e-3;
  batch.cpu(RecordStage::kFetch) = 0.1e-3;
  batch.cpu(RecordStage::kDecode) = 0.5e-3;
  batch.cpu(RecordStage::kMel) = 3.2e-3;
  batch.cpu(RecordStage::kText) = 0.05e-3;
  batch.cpu(RecordStage::kAssemble) = 0.15e-3;
  return batch;
}

inline std::int64_t ns_of(double seconds) { return static_cast<std::int64_t>(1e9 * seconds); }

inline feed::BatchRecord record_of(const PlantedBatch& batch, double slowdown, double begin_s) {
  feed::BatchRecord record;
  double at_s = begin_s, cpu_s = 0;
  for (std::size_t i = 0; i < feed::kNumRecordStages; ++i) {
    const double busy_s = slowdown * batch.cpu_s[i] + batch.blocked_s[i];
    record.stages[i] = {ns_of(at_s), ns_of(at_s + busy_s), ns_of(busy_s)};
    if (i < static_cast<std::size_t>(feed::RecordStage::kWaitSlot)) cpu_s += batch.cpu_s[i];
    at_s += busy_s;
  }
  record.worker_cpu_ns = ns_of(cpu_s);
  record.num_rows = batch.num_rows;
  record.num_frames = batch.num_frames;
  record.padded_frames = batch.padded_frames;
  record.shape = batch.shape;
  record.num_major_faults = batch.num_major_faults;
  record.slowest_ns = ns_of(batch.slowest_s);
  record.slowest_stage = batch.slowest_stage;
  std::strncpy(record.slowest_file.data(), batch.slowest_file.c_str(),
               record.slowest_file.size() - 1);
  return record;
}

inline Evidence plant(const PlantedRun& run) {
  Evidence evidence;
  evidence.setup.num_workers = run.num_workers;
  evidence.setup.depth = run.depth;
  evidence.watch.machine.emplace();
  evidence.watch.machine->cpu.num_allowed_cores = 4;
  evidence.data.mean_audio_s = 6;
  evidence.data.longest_audio_s = 10;
  evidence.data.mean_file_bytes = 250e3;
  std::vector<double> worker_free_s(std::max(1U, run.num_workers), 1.0), handed_s, released_s;
  double asked_s = 1.0, transfer_free_s = 1.0;
  std::array<double, feed::kNumConsumerWorks> works_s{};
  double consumer_cpu_s = 0;
  for (std::size_t i = 0; i < run.num_batches; ++i) {
    PlantedBatch batch = usual_batch();
    run.change(i, batch);
    const auto worker = std::min_element(worker_free_s.begin(), worker_free_s.end());
    double begin_s = *worker;
    if (run.num_workers == 0) begin_s = asked_s;
    if (i > run.depth) begin_s = std::max(begin_s, handed_s[i - run.depth - 1]);
    if (i > run.depth + 1 && i - run.depth - 2 < released_s.size())
      begin_s = std::max(begin_s, released_s[i - run.depth - 2]);
    feed::BatchRecord record = record_of(batch, run.slowdown, begin_s);
    const auto& stages = record.stages;
    const double filled_s =
        1e-9 *
        static_cast<double>(stages[static_cast<std::size_t>(feed::RecordStage::kAssemble)].end_ns);
    *worker = filled_s;
    const double transfer_s =
        1e-9 *
        static_cast<double>(stages[static_cast<std::size_t>(feed::RecordStage::kCopy)].busy_ns +
                            stages[static_cast<std::size_t>(feed::RecordStage::kKernel)].busy_ns);
    transfer_free_s = std::max(filled_s, transfer_free_s) + transfer_s;
    const double ready_s = transfer_free_s;
    record.number = record.batch = i;
    record.worker = static_cast<std::int32_t>(worker - worker_free_s.begin());
    record.num_workers = run.num_workers;
    record.num_held = run.num_held;
    record.asked_ns = ns_of(asked_s);
    handed_s.push_back(std::max(asked_s, ready_s));
    record.handed_ns = ns_of(handed_s.back());
    for (std::size_t k = 0; k < works_s.size(); ++k) record.works_ns[k] = ns_of(works_s[k]);
    record.consumer_cpu_ns = ns_of(consumer_cpu_s);
    works_s = batch.works_s;
    consumer_cpu_s = batch.consumer_cpu_s;
    asked_s = handed_s.back() + batch.step_s;
    for (const double each : works_s) asked_s += each;
    if (handed_s.size() >= run.num_held) released_s.push_back(asked_s);
    evidence.watch.records.push_back(record);
  }
  return evidence;
}

}  // namespace stoker::observe
