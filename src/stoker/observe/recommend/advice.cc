#include "stoker/observe/recommend/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/config/value_types.h"

namespace stoker::observe {
namespace {

// `stoker train --model-size normal` on an H200, 2026-11-17: bench/results/train-auto.json and
// train-speed.json. A step took 31.0 GB for 155,712 frames and 1.35 million frames a second.
constexpr double kStepBytesPerFrame = 31'018'975'232.0 / 155'712;
constexpr double kH200FramesPerS = 1'348'072;
constexpr double kModelBytes = 1.5e9;     // weights, moments, workspace
constexpr double kUsableShare = 0.9;      // of the card's memory
constexpr double kSmallestMargin = 0.03;  // of a rate from one run to the next, hours apart
constexpr double kMemoryMargin = 0.15;
constexpr double kFewestFrames = 20'000;  // an update from less is noisy: accumulate
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

std::string rate_text(double clips_per_s) {
  return grouped(static_cast<std::uint64_t>(std::lround(clips_per_s)));
}

// The best median of the runs that pass `is_meant`; 0 where there is none.
template <class Meant>
double best_where(const SearchResult& search, const Meant& is_meant) {
  double best = 0;
  for (const TriedChoice& each : search.tried)
    if (is_meant(each.choice)) best = std::max(best, each.median());
  return best;
}

class Adviser {
 public:
  explicit Adviser(const Findings& findings) : findings_(findings) {
    if (!findings.search.best) {
      if (!findings.refusals.empty()) raise(findings.refusals.begin()->second);
      return;
    }
    best_ = *findings.search.best;
  }

  Advice make() {
    put_device();
    put_workers();
    put_depth();
    put_tuner();
    put_memory();
    put_tier();
    if (findings_.gpu) put_gpu(*findings_.gpu);
    expect();
    put_notes();
    return std::move(advice_);
  }

 private:
  void put(std::string path, std::string value, std::string reason) {
    advice_.settings.push_back({std::move(path), std::move(value), std::move(reason)});
  }

  void put_device() {
    if (!findings_.gpu) return put("device", "cpu", findings_.why_no_gpu);
    const GpuFindings& gpu = *findings_.gpu;
    put("device", "cuda",
        gpu.is_here ? gpu.name + " was found"
                    : gpu.name + " as you named it; it is not in this machine");
  }

  void put_workers() {
    const FeedChoice& choice = best_.choice;
    std::string reason = rate_text(best_.median()) + " clips/s";
    for (const TriedChoice& each : findings_.search.tried) {
      const FeedChoice& other = each.choice;
      if (other.tier == choice.tier && other.num_workers != choice.num_workers)
        others_[other.num_workers] = std::max(others_[other.num_workers], each.median());
    }
    std::string beside;
    for (const auto& [workers, rate] : others_)
      beside += fmt::format("{}{} with {}", beside.empty() ? "; " : ", ", rate_text(rate), workers);
    put("data.num_workers", std::to_string(choice.num_workers),
        reason + beside +
            fmt::format(" ({} allowed)", counted(findings_.machine.cpus.allowed, "core", "cores")));
  }

  void put_depth() {
    const FeedChoice& choice = best_.choice;
    std::string beside;
    for (const TriedChoice& each : findings_.search.tried) {
      FeedChoice same = each.choice;
      same.depth = choice.depth;
      if (same == choice && each.choice.depth != choice.depth)
        beside += fmt::format(", {} with {}", rate_text(each.median()), each.choice.depth);
    }
    const bool is_usual = choice.depth == least_depth(choice.num_workers);
    put("data.prefetch_buffer_size", std::to_string(choice.depth),
        fmt::format("{} clips/s{}{}", rate_text(best_.median()), beside,
                    is_usual ? "; deep enough to ride out a pause" : ""));
  }

  // What was measured is what is recommended; a tuner would move away from it and cost a little.
  void put_tuner() {
    put("data.auto_tune_performance", "false",
        "workers and buffer were measured here as they are; a tuner would begin anew in each run");
  }

  void put_memory() {
    if (!findings_.buffer_memory_bytes) return;
    const MemoryFacts& memory = findings_.machine.memory;
    put("data.buffer_memory", fmt::format("{}MiB", *findings_.buffer_memory_bytes / kMiB),
        fmt::format("{} may still be taken{}{}", bytes_text(memory.available_bytes),
                    memory.limited_by.empty() ? "" : ", limited by ", memory.limited_by));
  }

  std::string tier_reason() const {
    std::string text;
    for (const FeedTier tier :
         {FeedTier::kFiles, FeedTier::kCached, FeedTier::kPcm, FeedTier::kMemory, FeedTier::kGpu}) {
      const double rate =
          best_where(findings_.search, [&](const FeedChoice& each) { return each.tier == tier; });
      if (rate > 0)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(tier), rate_text(rate));
    }
    return text + " clips/s";
  }

  void put_tier() {
    const bool is_files = best_.choice.tier == FeedTier::kFiles;
    put("data.preprocessing_mode", is_files ? "runtime" : "auto",
        tier_reason() + (is_files ? ""
                                  : "; the cache is built in the first epoch, or before with "
                                    "`stoker precompute`"));
    if (best_.choice.tier == FeedTier::kPcm)
      put("cache.content", "pcm", "samples in the cache, mels made on the fly");
    if (best_.choice.tier == FeedTier::kMemory)
      put("cache.tier", "ram",
          fmt::format("{} of mels fit into the {} that are free",
                      bytes_text(static_cast<std::uint64_t>(findings_.data.mel_bytes)),
                      bytes_text(findings_.machine.memory.available_bytes)));
    if (best_.choice.tier == FeedTier::kGpu)
      put("cache.tier", "gpu",
          fmt::format("{} of mels stay in GPU memory",
                      bytes_text(static_cast<std::uint64_t>(findings_.data.mel_bytes))));
  }

  void put_gpu(const GpuFindings& gpu) {
    const double memory_bytes = static_cast<double>(gpu.memory_mib * kMiB);
    const std::uint64_t feed_mib = std::max<std::uint64_t>(gpu.memory_mib / 16, 512);
    const double room =
        kUsableShare * memory_bytes - kModelBytes - static_cast<double>(feed_mib * kMiB);
    const double most = std::max(1000.0, 1000 * std::floor(room / kStepBytesPerFrame / 1000));
    batch_frames_ = std::min<double>(config::kDefaultBatchFrames, most);
    put("data.batch_frames", fmt::format("{:.0f}", batch_frames_),
        fmt::format("about {:.0f} clips of this data, {} of the card's {} for a step of the normal "
                    "model (199 kB a frame, measured on an H200); {} frames would fit",
                    clips_per_batch(),
                    bytes_text(static_cast<std::uint64_t>(batch_frames_ * kStepBytesPerFrame +
                                                          kModelBytes)),
                    bytes_text(gpu.memory_mib * kMiB), grouped(static_cast<std::uint64_t>(most))));
    const double steps = std::ceil(kFewestFrames / batch_frames_);
    if (steps > 1)
      put("training.gradient_accumulation_steps", fmt::format("{:.0f}", steps),
          fmt::format("brings an update to {} frames within the memory",
                      grouped(static_cast<std::uint64_t>(steps * batch_frames_))));
    put("gpu.buffer_size", "50", "batches in device memory, bounded by data_gpu_memory");
    put("gpu.data_gpu_memory", fmt::format("{}MiB", feed_mib),
        "a sixteenth of the card, 512 MiB at least: the rest is the model's");
    put("training.precision", gpu.has_bf16 ? "bf16" : "fp16",
        gpu.has_bf16 ? "the card computes bf16 in its tensor cores"
                     : "the card has no bf16; fp16 is scaled on the device");
  }

  double clips_per_batch() const {
    return batch_frames_ / std::max(1.0, findings_.data.frames_per_clip);
  }

  // Bytes that a clip needs from storage in the chosen tier.
  double bytes_per_clip() const {
    const DataSurvey& data = findings_.data;
    const auto count = static_cast<double>(std::max<std::size_t>(1, data.num_utterances));
    if (best_.choice.tier == FeedTier::kFiles) return data.mean_file_bytes;
    return (best_.choice.tier == FeedTier::kPcm ? data.pcm_bytes : data.mel_bytes) / count;
  }

  // What storage alone would bring once the page cache is too small for the data.
  std::optional<double> cold_rate() const {
    const StorageFacts& storage = findings_.machine.storage;
    const double total = bytes_per_clip() * static_cast<double>(findings_.data.num_utterances);
    if (findings_.is_made_data || !storage.cold_mb_per_s) return std::nullopt;
    if (total <= static_cast<double>(findings_.machine.memory.available_bytes)) return std::nullopt;
    double rate = 1e6 * *storage.cold_mb_per_s / std::max(1.0, bytes_per_clip());
    if (best_.choice.tier == FeedTier::kFiles && storage.cold_files_per_s)
      rate = std::min(rate, best_.choice.num_workers * *storage.cold_files_per_s);
    return rate;
  }

  void expect() {
    const double rate = best_.median();
    const double margin = std::clamp(best_.plus_minus(), kSmallestMargin * rate, rate);
    advice_.clips_per_s = {rate, rate - margin, rate + margin};
    if (const std::optional<double> cold = cold_rate(); cold && *cold < rate) {
      advice_.clips_per_s.value = *cold;
      advice_.clips_per_s.low = std::min(*cold, advice_.clips_per_s.low) / 2;
      advice_.notes.push_back(fmt::format(
          "the data is larger than the {} of memory that are free: storage, {:.0f} MB/s cold, "
          "brings {} clips/s; more is only seen while files are in the page cache",
          bytes_text(findings_.machine.memory.available_bytes),
          *findings_.machine.storage.cold_mb_per_s, rate_text(*cold)));
    }
    const auto start = static_cast<double>(findings_.start_bytes);
    const auto grown = static_cast<double>(findings_.held.grown_bytes);
    const auto buffers = static_cast<double>(findings_.held.buffer_bytes);
    // At least what was seen; at most that beside buffers of which every page is in use.
    advice_.memory_bytes = {start + std::max(grown, buffers),
                            (1 - kMemoryMargin) * (start + std::min(grown, buffers)),
                            (1 + kMemoryMargin) * (start + grown + buffers)};
  }

  void put_notes() {
    if (findings_.is_made_data)
      advice_.notes.emplace_back(
          "no data set was named: the runs used one that was made, like LJSpeech; with --data the "
          "settings fit yours");
    if (findings_.share_tried < 1)
      advice_.notes.push_back(fmt::format("the runs used a draw of {:.1f} % of the clips",
                                          100 * findings_.share_tried));
    for (const auto& [tier, error] : findings_.refusals)
      advice_.notes.push_back(fmt::format("{} was not possible: {}", name_of(tier), error.found));
    if (!findings_.gpu) return;
    put_demand(*findings_.gpu);
    put_original(*findings_.gpu);
  }

  // How the card's appetite compares with what the feed brings.
  void put_demand(const GpuFindings& gpu) {
    if (!gpu.known) return;
    const KnownGpu h200 = gpu_by_name("h200");
    const double by_sums = gpu.known->bf16_tflops / h200.bf16_tflops;
    const double by_memory = gpu.known->memory_gb_per_s / h200.memory_gb_per_s;
    const double frames = std::max(1.0, findings_.data.frames_per_clip);
    const double low = kH200FramesPerS * std::min(by_sums, by_memory) / frames;
    const double high = kH200FramesPerS * std::max(by_sums, by_memory) / frames;
    advice_.notes.push_back(fmt::format(
        "{} by its public figures ({} MiB, {:.0f} GB/s, {:.0f} TFLOPS of bf16 or fp16, bus {:.0f} "
        "GB/s): it would take {} to {} clips/s with the normal model, scaled from an H200; this "
        "machine brings {}",
        gpu.name, grouped(gpu.memory_mib), gpu.known->memory_gb_per_s, gpu.known->bf16_tflops,
        gpu.known->bus_gb_per_s, rate_text(low), rate_text(high), rate_text(best_.median())));
  }

  void put_original(const GpuFindings& gpu) {
    const std::optional<OriginalSizes> sizes = original_sizes(gpu.name);
    if (!sizes) return;
    advice_.notes.push_back(fmt::format(
        "myxtts had batch {} / workers {} / prefetch {}{} for this card; here {:.0f} frames, about "
        "{:.0f} clips, / {} / {}: a batch is bounded by frames, so long clips cannot exceed the "
        "memory; workers are threads that share {}, not processes; and a batch ready costs memory "
        "and brings nothing once no worker waits",
        sizes->batch_size, sizes->num_workers, sizes->prefetch,
        sizes->accumulation > 1 ? fmt::format(" with accumulation {}", sizes->accumulation) : "",
        batch_frames_, clips_per_batch(), best_.choice.num_workers, best_.choice.depth,
        counted(findings_.machine.cpus.allowed, "core", "cores")));
  }

  const Findings& findings_;
  TriedChoice best_;
  Advice advice_;
  std::map<unsigned, double> others_;  // best rate with other numbers of workers
  double batch_frames_ = config::kDefaultBatchFrames;
};

}  // namespace

Advice advise(const Findings& findings) { return Adviser(findings).make(); }

}  // namespace stoker::observe
