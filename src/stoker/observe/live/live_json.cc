// The figures of one moment as the JSON of `stoker monitor`.
#include "stoker/observe/live/live_figures.h"

namespace stoker::observe {
namespace {

Json gpu_json(const LiveGpu& gpu) {
  return Json{{"gpu_id", gpu.index},
              {"name", gpu.name},
              {"utilization", gpu.now.utilization_percent},
              {"memory_used_bytes", gpu.now.memory_used_bytes},
              {"memory_total_bytes", gpu.now.memory_total_bytes},
              {"power_w", gpu.now.power_w},
              {"power_limit_w", gpu.link.power_limit_w},
              {"clock_mhz", gpu.now.clock_mhz},
              {"temp_c", gpu.now.temperature_c},
              {"fan_pct", gpu.now.fan_percent},
              {"throttle", cuda::throttle_text(gpu.now.throttle_reasons.value_or(0))},
              {"pcie_rx_mb_per_s", gpu.link.pcie_rx_mb_per_s},
              {"pcie_tx_mb_per_s", gpu.link.pcie_tx_mb_per_s}};
}

Json gap_json(const LiveGap& gap) {
  return Json{{"ago_s", gap.ago_s},
              {"length_ms", 1e3 * gap.length_s},
              {"side", gap.is_consumer ? "consumer" : "feed"},
              {"stage", gap.stage},
              {"file", gap.file.empty() ? Json() : Json(gap.file)}};
}

Json feed_json(const LiveFeed& feed) {
  Json out{{"state", name_of(feed.state)},
           {"sentence", feed.sentence},
           {"epoch", feed.epoch},
           {"batch", feed.batch},
           {"batches", feed.totals.batches},
           {"clips", feed.totals.clips},
           {"batches_per_s", feed.batches_per_s},
           {"clips_per_s", feed.clips_per_s},
           {"frames_per_s", feed.frames_per_s},
           {"stall_share", feed.stall_share},
           {"stall_share_total", feed.stall_share_total},
           {"ready", feed.num_ready},
           {"most_ready", feed.most_ready},
           {"workers", feed.num_workers},
           {"worker_busy_share", feed.worker_busy_share},
           {"step_ms", feed.step_ms},
           {"interval_ms", feed.interval_ms},
           {"interval_cv", feed.interval_cv},
           {"padding_share", feed.padding_share},
           {"verdict", name_of(feed.verdict)},
           {"verdict_sentence", feed.verdict_sentence}};
  Json& stages = out["stages"] = Json::object();
  for (std::size_t i = 0; i < feed::kNumRecordStages; ++i)
    stages[feed::name_of(static_cast<feed::RecordStage>(i))] = feed.stage_shares[i];
  Json& gaps = out["gaps"] = Json::array();
  for (const LiveGap& gap : feed.gaps) gaps.push_back(gap_json(gap));
  return out;
}

Json process_json(const LiveProcess& process) {
  return Json{{"pid", process.pid},
              {"cpu_cores", process.cpu_cores},
              {"memory_bytes", process.memory_bytes},
              {"read_bytes_per_s", process.read_bytes_per_s}};
}

}  // namespace

Json LiveFigures::json() const {
  Json out{{"number", number}, {"at_s", at_s}, {"num_cores", num_cores}};
  Json all = machine.json();
  for (const char* part : {"cpu", "memory", "storage"}) out[part] = all.at(part);
  Json& cards = out["gpus"] = Json::array();
  for (const LiveGpu& gpu : gpus) cards.push_back(gpu_json(gpu));
  out["why_no_gpu"] = why_no_gpu.empty() ? Json() : Json(why_no_gpu);
  out["feed"] = feed_json(feed);
  out["process"] = process ? process_json(*process) : Json();
  return out;
}

}  // namespace stoker::observe
