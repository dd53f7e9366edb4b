// Figures of a busy training, made by hand, for the tests of everything that is rendered from them.
#pragma once

#include <memory>
#include <string>

#include "stoker/observe/live/live_figures.h"

namespace stoker::observe {

inline LiveGpu planted_gpu(unsigned index) {
  constexpr std::uint64_t kGib = std::uint64_t{1} << 30U;
  return {.index = index,
          .name = "NVIDIA H200",
          .now = {.utilization_percent = 97,
                  .memory_used_bytes = 41 * kGib,
                  .memory_total_bytes = 139 * kGib,
                  .power_w = 512.4,
                  .clock_mhz = 1980,
                  .temperature_c = 61,
                  .fan_percent = 33,
                  .throttle_reasons = 0x4},
          .link = {.power_limit_w = 700, .pcie_rx_mb_per_s = 1200}};
}

inline LiveFeed planted_feed() {
  LiveFeed feed{.state = FeedState::kRunning, .sentence = "process 123"};
  feed.epoch = 2;
  feed.batch = 1234;
  feed.batches_per_s = 12.3;
  feed.clips_per_s = 196;
  feed.frames_per_s = 81'000;
  feed.stall_share = 0.07;
  feed.stall_share_total = 0.012;
  feed.since_batch_s = 0.05;
  feed.num_ready = 6;
  feed.most_ready = 8;
  feed.num_workers = 4;
  feed.worker_busy_share = 0.61;
  feed.stage_shares[static_cast<std::size_t>(feed::RecordStage::kMel)] = 0.7;
  feed.stage_shares[static_cast<std::size_t>(feed::RecordStage::kDecode)] = 0.3;
  feed.step_ms = 80.1;
  feed.interval_ms = 81.3;
  feed.interval_cv = 0.04;
  feed.padding_share = 0.021;
  feed.gaps.push_back({.ago_s = 12, .length_s = 0.35, .stage = "decode", .file = "wavs/slow.wav"});
  feed.gaps.push_back({.ago_s = 80, .length_s = 1.2, .is_consumer = true, .stage = "checkpoint"});
  feed.verdict = LoopVerdict::kStarved;
  feed.verdict_sentence = "The consumer waits for the feed 7 % of its time: the storage is slow.";
  feed.totals.batches = 4321;
  feed.totals.clips = 69'136;
  feed.totals.wait_s = 1.5;
  return feed;
}

inline LiveFigures planted_figures(unsigned num_gpus = 1) {
  LiveFigures figures{.number = 7, .at_s = 12'345, .interval_s = 1, .num_cores = 16};
  figures.unix_ns = 1'700'000'000'000'000'000;
  for (unsigned i = 0; i < num_gpus; ++i) figures.gpus.push_back(planted_gpu(i));
  if (num_gpus == 0) figures.why_no_gpu = "libnvidia-ml.so.1 is not here: no NVIDIA driver";
  figures.machine.cpu.busy_cores = 13.5;
  figures.machine.cpu.pressure = 0.12;
  figures.machine.memory.total_bytes = std::uint64_t{64} << 30U;
  figures.machine.memory.available_share = 0.75;
  figures.machine.storage.device = "nvme0n1";
  figures.machine.storage.file_system = "ext4";
  figures.machine.storage.device_read_bytes_per_s = 12.1e6;
  figures.machine.storage.device_busy_share = 0.3;
  figures.process = {.pid = 123, .cpu_cores = 3.4, .memory_bytes = std::uint64_t{2} << 30U};
  figures.feed = planted_feed();
  return figures;
}

inline FiguresPtr shared(LiveFigures figures) {
  return std::make_shared<const LiveFigures>(std::move(figures));
}

}  // namespace stoker::observe
