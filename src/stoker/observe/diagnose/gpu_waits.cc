// What a consumer's stream waits for on the GPU although its host was handed the batch: copies and
// kernels of the feed that are not done.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "stoker/observe/diagnose/findings.h"
#include "stoker/observe/diagnose/thresholds.h"

namespace stoker::observe {
namespace {

using feed::RecordStage;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

NamedCause copies(const Evidence& evidence, double copy_s, double interval_s) {
  const bool is_pinned = evidence.setup.pins_memory;
  std::vector<std::string> lines{
      fmt::format("copies to the GPU take {:.2f} ms of the {:.2f} ms between two batches",
                  1e3 * copy_s, 1e3 * interval_s)};
  if (!is_pinned) lines.emplace_back("gpu.pin_memory is off");
  if (const auto& machine = evidence.watch.machine; machine && machine->gpu) {
    const GpuWindow& gpu = *machine->gpu;
    if (gpu.pcie_rx_mb_per_s && gpu.pcie_width && gpu.pcie_generation)
      lines.push_back(fmt::format("the bus of {} lanes of generation {} carries {:.1f} GB/s",
                                  *gpu.pcie_width, *gpu.pcie_generation,
                                  1e-3 * *gpu.pcie_rx_mb_per_s));
  }
  return {.cause = is_pinned ? Cause::kNarrowBus : Cause::kPageableCopies,
          .evidence = std::move(lines)};
}

}  // namespace

std::optional<double> idle_look_share(const Evidence& evidence) {
  std::size_t looks = 0, idle = 0;
  for (const feed::BatchRecord& record : evidence.watch.records) {
    if (record.gpu_was_busy < 0) continue;
    ++looks;
    idle += record.gpu_was_busy == 0 ? 1 : 0;
  }
  if (looks < kFewestLooks) return std::nullopt;
  return static_cast<double>(idle) / static_cast<double>(looks);
}

bool waits_for_host(const Evidence& evidence) {
  return idle_look_share(evidence).value_or(0) >= kIdleLooks;
}

std::optional<NamedCause> find_wait_in_step(const Evidence& evidence, const SupplyModel& model,
                                            TimeShares& shares) {
  const double late = shares.long_steps + shares.slow_steps;
  if (!evidence.setup.is_on_gpu || !evidence.watch.is_paced || late <= kHostWorkShare)
    return std::nullopt;
  const double interval_s = shares.all_s / static_cast<double>(model.batches().size());
  const double copy_s = model.stage_s(RecordStage::kCopy);
  const double kernel_s = model.stage_s(RecordStage::kKernel);
  std::optional<NamedCause> found;
  if (copy_s >= kBusyCopies * interval_s) {
    found = copies(evidence, copy_s, interval_s);
  } else if (evidence.setup.makes_mel_on_gpu && !waits_for_host(evidence) &&
             kernel_s >= kContendingKernels * late * interval_s) {
    found = NamedCause{
        .cause = Cause::kMelContention,
        .evidence = {fmt::format("the feed's kernels take {:.2f} ms of each batch", 1e3 * kernel_s),
                     fmt::format("steps are {} longer than they should be",
                                 percent(late / std::max(1e-9, 1 - late)))}};
  }
  if (!found) return std::nullopt;
  found->share = found->regained = late;
  shares.stall += late;
  shares.step -= late;
  shares.long_steps = shares.slow_steps = 0;
  return found;
}

}  // namespace stoker::observe
