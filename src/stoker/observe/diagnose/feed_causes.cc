// Why a consumer waits: each candidate is asked of the model, "what if it were gone?".
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/observe/diagnose/findings.h"
#include "stoker/observe/diagnose/thresholds.h"

namespace stoker::observe {
namespace {

using feed::RecordStage;

double ms(double seconds) { return 1e3 * seconds; }

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string worker_count(unsigned count) { return counted(count, "worker", "workers"); }

// One look at the evidence for all causes of the feed.
class FeedCauses {
 public:
  FeedCauses(const Evidence& evidence, const SupplyModel& model, const TimeShares& shares)
      : evidence_(evidence), setup_(evidence.setup), model_(model), shares_(shares) {
    worker_s_ = model.worker_s();
    fetch_blocked_s_ = model.blocked_s(RecordStage::kFetch);
  }

  std::vector<Candidate> find() {
    find_start_up();
    if (shares_.stall <= kLeastShare) return std::move(found_);
    find_slow_file();
    find_storage();
    find_workers();
    find_stages();
    find_cores();
    find_memory();
    find_buffer();
    find_transfer();
    return std::move(found_);
  }

 private:
  void add(Cause cause, double weight, double regained, std::vector<std::string> evidence) {
    if (!(regained > kLeastShare)) return;
    found_.push_back(
        {{.cause = cause, .regained = regained, .evidence = std::move(evidence)}, weight});
  }
  // What single files take is not the stage's.
  double share_of(RecordStage stage) const {
    if (worker_s_ <= 0) return 0;
    double outliers_s = 0, own_s = 0;
    for (const BatchWork& work : model_.batches()) {
      outliers_s += work.outlier_s;
      if (evidence_.watch.records[work.record].slowest_stage == stage) own_s += work.outlier_s;
    }
    const auto count = static_cast<double>(model_.batches().size());
    const double left_s = worker_s_ - outliers_s / count;
    return left_s > 0 ? std::max(0.0, model_.stage_s(stage) - own_s / count) / left_s : 0;
  }
  const MachineWindow* machine() const {
    return evidence_.watch.machine ? &*evidence_.watch.machine : nullptr;
  }
  double fetch_blocked_share() const { return worker_s_ > 0 ? fetch_blocked_s_ / worker_s_ : 0; }

  void find_start_up() {
    if (shares_.start < kStartShare || shares_.stall > kStarvedShare) return;
    add(Cause::kStartUp, 1, shares_.start,
        {fmt::format("{} of the watch went by before the buffer was full; later the consumer "
                     "waits {}",
                     percent(shares_.start), percent(shares_.stall))});
  }

  // Outliers of a few files.
  void find_slow_file() {
    const OutlierFiles outliers = outlier_files(evidence_, model_.batches());
    if (!outliers.are_few) return;
    const auto& [worst_s, worst] = outliers.worst_first.front();
    Scenario without;
    without.has_outliers = false;
    std::vector<std::string> lines{
        fmt::format("{} took {} beyond what others take", worst, seconds_text(worst_s))};
    if (evidence_.data.longest_audio_s > kOutlierFactor * evidence_.data.mean_audio_s)
      lines.push_back(fmt::format(
          "the longest recording is {} ({}), the mean one {}", evidence_.data.longest_file,
          seconds_text(evidence_.data.longest_audio_s), seconds_text(evidence_.data.mean_audio_s)));
    has_slow_file_ = true;
    add(Cause::kSlowFile, 1.2, model_.regained(without), std::move(lines));
  }

  void find_storage() {
    if (fetch_blocked_share() < 0.5 * kDominantShare || has_memory_pressure()) return;
    Scenario without;
    without.blocked_factor[static_cast<std::size_t>(RecordStage::kFetch)] = 0;
    const double regained = model_.regained(without);
    std::vector<std::string> lines{
        fmt::format("a worker waits {:.2f} ms in fetch for each batch, {} "
                    "of its time",
                    ms(fetch_blocked_s_), percent(fetch_blocked_share()))};
    if (machine() == nullptr)
      lines.emplace_back("nothing is known of the machine: waiting for a core would look the same");
    const StorageWindow storage = machine() != nullptr ? machine()->storage : StorageWindow{};
    if (storage.device_read_ms)
      lines.push_back(
          fmt::format("a read of {} takes {:.2f} ms", storage.device, *storage.device_read_ms));
    if (storage.page_cache_share)
      lines.push_back(
          fmt::format("{} of the data are in the page cache", percent(*storage.page_cache_share)));
    add_storage_runs(lines);
    Cause cause = Cause::kStorageSlow;
    if (storage.kind == StorageKind::kNetwork || storage.kind == StorageKind::kRotating ||
        storage.kind == StorageKind::kFuse) {
      cause = Cause::kRemoteStorage;
      lines.push_back(
          fmt::format("the files are on {} ({})", storage.file_system, name_of(storage.kind)));
    } else if (evidence_.data.mean_file_bytes > 0 &&
               evidence_.data.mean_file_bytes < kTinyFileBytes && !setup_.is_cached) {
      cause = Cause::kTinyFiles;
      lines.push_back(
          fmt::format("a file has {} on average",
                      bytes_text(static_cast<std::uint64_t>(evidence_.data.mean_file_bytes))));
    }
    add(cause, 1.1, regained, std::move(lines));
  }

  // What the feed brings from where else.
  void add_storage_runs(std::vector<std::string>& lines) const {
    for (const auto& [kind, from] : {std::pair{RunKind::kCold, "files that are not in memory"},
                                     std::pair{RunKind::kMemory, "memory"}}) {
      const SupplyRun* run = find_run(evidence_, kind);
      if (run == nullptr || run->batches_per_s <= 0) continue;
      lines.push_back(fmt::format("from {} the feed brings {} batches/s, as it is {}", from,
                                  per_second_text(run->batches_per_s),
                                  per_second_text(model_.supply_batches_per_s())));
    }
  }

  // A stage that is usually small and dominates here; the mel only where the cores are used up.
  void find_stages() {
    struct Usual {
      RecordStage stage;
      Cause cause;
      double share;
    };
    for (const Usual& each : {Usual{RecordStage::kDecode, Cause::kDecode, kDominantShare},
                              Usual{RecordStage::kResample, Cause::kResample, kDominantShare},
                              Usual{RecordStage::kText, Cause::kText, kDominantTextShare},
                              Usual{RecordStage::kAssemble, Cause::kAssembly, kDominantShare}}) {
      if (share_of(each.stage) >= each.share) add_stage(each.stage, each.cause, 1.05);
    }
    const bool is_mel = share_of(RecordStage::kMel) >= kDominantShare;
    if (is_mel && !has_few_workers_) add_stage(RecordStage::kMel, Cause::kMel, 0.6);
  }

  void add_stage(RecordStage stage, Cause cause, double weight) {
    Scenario without;
    without.drop(stage);
    const SupplyRun* stand_in = nullptr;
    if (stage == RecordStage::kMel) stand_in = find_run(evidence_, RunKind::kNoMel);
    if (stage == RecordStage::kText) stand_in = find_run(evidence_, RunKind::kNoText);
    if (stand_in != nullptr) without.supply_batches_per_s = stand_in->batches_per_s;
    std::vector<std::string> lines{
        fmt::format("{} takes {:.2f} ms of a batch, {} of the workers' time", feed::name_of(stage),
                    ms(model_.stage_s(stage)), percent(share_of(stage)))};
    if (cause == Cause::kResample && evidence_.data.mean_rate_hz > 0)
      lines.push_back(fmt::format("files have {:.0f} Hz on average, features {:.0f} Hz",
                                  evidence_.data.mean_rate_hz, evidence_.data.features_rate_hz));
    if (cause == Cause::kDecode)
      lines.push_back(
          fmt::format("{} of the files are compressed", percent(evidence_.data.compressed_share)));
    if (cause == Cause::kMel)
      lines.push_back(fmt::format("workers use {:.1f} of {:.1f} cores", model_.cores().workers_use,
                                  model_.cores().available));
    if (stand_in != nullptr)
      lines.push_back(fmt::format("without it the feed brings {} batches/s, with it {}",
                                  per_second_text(stand_in->batches_per_s),
                                  per_second_text(model_.supply_batches_per_s())));
    add(cause, weight, model_.regained(without), std::move(lines));
  }

  void find_workers() {
    if (model_.serial_s() > 0) {
      Scenario without;
      without.has_serial_part = false;
      add(Cause::kSerialStage, has_slow_file_ ? 0.7 : 1.1, model_.regained(without),
          {fmt::format("more workers bring no more: one thread at a time for {:.2f} ms of a batch",
                       ms(model_.serial_s()))});
      return;
    }
    if (!setup_.is_native) return find_naive_loader();
    const CoreFacts& cores = model_.cores();
    if (setup_.num_workers + 0.5 > cores.limit || !would_more_help()) return;
    has_few_workers_ = true;
    Scenario more;
    more.num_workers = better_num_workers(setup_, model_);
    more.has_free_consumer = setup_.num_workers == 0;
    std::vector<std::string> lines{fmt::format(
        "{} {:.1f} of {:.0f} cores busy",
        setup_.num_workers == 0 ? "the consumer's thread, which makes the batches, keeps"
                                : fmt::format("{} keep{}", worker_count(setup_.num_workers),
                                              setup_.num_workers == 1 ? "s" : ""),
        cores.workers_use, cores.limit)};
    for (const SupplyRun& run : evidence_.runs) {
      if (run.kind == RunKind::kWorkers && run.num_workers > setup_.num_workers)
        lines.push_back(fmt::format(
            "with {} the feed brings {} batches/s, as it is {}", worker_count(run.num_workers),
            per_second_text(run.batches_per_s), per_second_text(model_.supply_batches_per_s())));
    }
    add(Cause::kFewWorkers, 1, model_.regained(more), std::move(lines));
  }

  void find_naive_loader() {
    const SupplyRun* run = find_run(evidence_, RunKind::kNative);
    if (run == nullptr) return;
    has_few_workers_ = true;
    add(Cause::kFewWorkers, 1.2, model_.regained(Scenario::with_native_loader(*run)),
        {"the naive loader makes each batch in the consumer's thread when it is asked for",
         fmt::format("the native one brings {} batches/s with {}, this one {}",
                     per_second_text(run->batches_per_s), worker_count(run->num_workers),
                     per_second_text(model_.supply_batches_per_s()))});
  }

  // Measured, else where cores are free.
  bool would_more_help() const {
    const SupplyRun* own = find_run(evidence_, RunKind::kSupply);
    for (const SupplyRun& run : evidence_.runs) {
      if (own == nullptr || run.kind != RunKind::kWorkers) continue;
      if (run.num_workers > setup_.num_workers)
        return run.batches_per_s > kWorkerGrowth * own->batches_per_s;
    }
    return model_.cores().available - model_.cores().workers_use >= 0.5;
  }

  // Quota, workers that push each other aside, neighbours.
  void find_cores() {
    const CoreFacts& cores = model_.cores();
    if (machine() == nullptr || !cores.is_saturated()) return;
    const CpuWindow& cpu = machine()->cpu;
    Scenario free;
    const bool is_throttled = cpu.quota_cores && cpu.throttled_share.value_or(0) > kThrottledShare;
    const bool are_many = setup_.num_workers >= kTooManyWorkers * cores.limit;
    if (are_many) add_many_workers(cpu);
    if (is_throttled) {
      free.cores = cores.affinity;
      add(Cause::kCpuQuota, 1.1, model_.regained(free),
          {fmt::format("the quota is {:.2f} cores of {:.0f}; {} of its periods ended in a stop",
                       *cpu.quota_cores, cores.affinity, percent(*cpu.throttled_share))});
    }
    if (cores.others > kNeighbourCores) {
      free.cores = cores.limit;
      free.num_workers = setup_.num_workers;
      add(Cause::kBusyNeighbour, 1, model_.regained(free),
          {fmt::format("others use {:.1f} of {:.0f} cores", cores.others, cores.affinity)});
    }
  }

  // Where no run with fewer was made, half of the waiting is put down to them.
  void add_many_workers(const CpuWindow& cpu) {
    Scenario fewer;
    fewer.num_workers = better_num_workers(setup_, model_);
    const bool was_tried =
        std::any_of(evidence_.runs.begin(), evidence_.runs.end(), [&](const SupplyRun& run) {
          return run.kind == RunKind::kWorkers && run.num_workers == *fewer.num_workers;
        });
    add(Cause::kManyWorkers, 1.7,
        std::max(model_.regained(fewer), was_tried ? 0.0 : 0.5 * shares_.stall),
        {fmt::format("{} share {:.1f} cores", worker_count(setup_.num_workers),
                     model_.cores().limit),
         fmt::format("threads wait {:.1f} s for a core in each second",
                     cpu.run_queue_wait.value_or(0))});
  }

  bool has_memory_pressure() const {
    if (machine() == nullptr) return false;
    const MemoryWindow& memory = machine()->memory;
    return memory.pressure.value_or(0) > kMemoryPressure ||
           memory.swap_in_pages_per_s.value_or(0) > kSwapPagesPerS ||
           (memory.available_share.value_or(1) < kLittleMemory &&
            major_faults() > kMajorFaultsPerBatch);
  }
  double major_faults() const {
    double sum = 0;
    for (const feed::BatchRecord& record : evidence_.watch.records) sum += record.num_major_faults;
    return sum / static_cast<double>(std::max<std::size_t>(1, evidence_.watch.records.size()));
  }

  void find_memory() {
    if (!has_memory_pressure()) return;
    const MemoryWindow& memory = machine()->memory;
    Scenario without;
    without.blocked_factor = Scenario::all(0);
    add(Cause::kMemoryPressure, 1.15, std::max(model_.regained(without), 0.5 * shares_.stall),
        {fmt::format("tasks wait {} of the time for memory", percent(memory.pressure.value_or(0))),
         fmt::format("{:.0f} pages are swapped in each second, {:.1f} major faults a batch",
                     memory.swap_in_pages_per_s.value_or(0), major_faults())});
  }

  void find_buffer() {
    // A feed that brings more to one who takes all at once has the cores, and lacks slots.
    const double spare = model_.supply_batches_per_s() * model_.base().interval_s;
    const double weight = spare > kSpareSupply ? 1.5 : 1.0;
    if (model_.mean_held() > kHeldBatches) {
      Scenario one;
      one.num_held = 1;
      add(Cause::kHoldsBatches, weight, model_.regained(one),
          {fmt::format("the consumer holds {:.1f} batches, the buffer has {}", model_.mean_held(),
                       setup_.depth)});
    }
    Scenario deeper;
    deeper.depth = better_depth(setup_);
    const bool has_better_name = has_slow_file_ || model_.mean_held() > kHeldBatches;
    if (deeper.depth <= setup_.depth || spare < 1 + kStarvedShare) return;
    add(Cause::kSmallBuffer, has_better_name ? 0.7 : weight, model_.regained(deeper),
        {fmt::format("the buffer has {}; supply is {:.1f} times the demand on average",
                     counted(setup_.depth, "batch", "batches"), spare)});
  }

  void find_transfer() {
    const double copy_s = model_.stage_s(RecordStage::kCopy);
    const double kernel_s = model_.stage_s(RecordStage::kKernel);
    Scenario no_copy, no_kernel;
    no_copy.drop(RecordStage::kCopy);
    no_kernel.drop(RecordStage::kKernel);
    if (copy_s > 0)
      add(setup_.pins_memory ? Cause::kNarrowBus : Cause::kPageableCopies, 1.05,
          model_.regained(no_copy),
          {fmt::format("a copy to the GPU takes {:.2f} ms", ms(copy_s)), bus_line()});
    if (kernel_s > 0)
      add(Cause::kMelContention, 1, model_.regained(no_kernel),
          {fmt::format("the feed's kernels take {:.2f} ms of each batch", ms(kernel_s))});
  }
  std::string bus_line() const {
    if (!setup_.pins_memory) return "gpu.pin_memory is off";
    if (machine() == nullptr || !machine()->gpu || !machine()->gpu->pcie_width)
      return "host memory is pinned";
    const GpuWindow& gpu = *machine()->gpu;
    return fmt::format("the bus has {} of {} lanes of generation {}", *gpu.pcie_width,
                       gpu.max_pcie_width.value_or(*gpu.pcie_width),
                       gpu.pcie_generation.value_or(0));
  }

  const Evidence& evidence_;
  const SetupFacts& setup_;
  const SupplyModel& model_;
  const TimeShares& shares_;
  double worker_s_ = 0, fetch_blocked_s_ = 0;
  bool has_slow_file_ = false, has_few_workers_ = false;
  std::vector<Candidate> found_;
};

}  // namespace

unsigned better_num_workers(const SetupFacts& setup, const SupplyModel& model) {
  constexpr double kMostOverlap = 8;
  const double overlap = std::min(kMostOverlap, 1 / std::max(1e-3, 1 - model.blocked_share()));
  const auto wanted =
      std::max(1U, static_cast<unsigned>(std::lround(model.cores().limit * overlap)));
  if (setup.num_workers >= kTooManyWorkers * wanted) return wanted;
  return std::max(setup.num_workers, wanted);
}

unsigned better_depth(const SetupFacts& setup) {
  constexpr unsigned kDeeper = 4, kLeast = 16;
  return std::min(setup.max_depth, std::max(kLeast, kDeeper * setup.depth));
}

std::vector<Candidate> feed_candidates(const Evidence& evidence, const SupplyModel& model,
                                       const TimeShares& shares) {
  if (model.is_empty()) return {};
  return FeedCauses(evidence, model, shares).find();
}

}  // namespace stoker::observe
