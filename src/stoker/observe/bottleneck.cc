#include "stoker/observe/bottleneck.h"

#include <fmt/core.h>

#include "stoker/base/number_text.h"
#include "stoker/observe/diagnose/verdict.h"

namespace stoker::observe {
namespace {

// The limits of myxtts' own reports, so that a figure keeps its word.
constexpr double kMostDataShare = 0.3;
constexpr double kUnevenCv = 0.3, kVeryUnevenCv = 0.5;
constexpr double kEvenCv = 0.05;
constexpr double kShortWaitMs = 10, kSlowBatchMs = 100, kVerySlowBatchMs = 500;
constexpr double kLowGpuPercent = 50, kModerateGpuPercent = 70, kGoodGpuPercent = 80;
constexpr double kMostCpuPercent = 90, kMostMemoryPercent = 85;

using Findings = std::vector<BottleneckAnalysis::Finding>;

void find_data_loading(const LoopFigures& figures, Findings& out) {
  const LoopFigures::Steps& steps = figures.steps;
  const double share = figures.data_share(), wait_ms = steps.data.mean_ms;
  if (share <= kMostDataShare) return;
  out.push_back({"data_loading_bottleneck", share, kMostDataShare,
                 fmt::format("A step waits {:.1f} ms for data and computes for {:.1f} ms. "
                             "Precompute the features, then raise num_workers and "
                             "prefetch_buffer_size. (The old advice: at least 8 each, workers = "
                             "2 x cores, data on an SSD, not an HDD.)",
                             wait_ms, steps.compute.mean_ms)});
  if (wait_ms <= kShortWaitMs) return;
  const double limit_ms = wait_ms > kVerySlowBatchMs ? kVerySlowBatchMs
                          : wait_ms > kSlowBatchMs   ? kSlowBatchMs
                                                     : kShortWaitMs;
  const char* const name = wait_ms > kVerySlowBatchMs ? "very_slow_batches"
                           : wait_ms > kSlowBatchMs   ? "slow_batches"
                                                      : "long_waits";
  out.push_back(
      {name, wait_ms, limit_ms,
       fmt::format("A batch takes {:.1f} ms to come; below {:.0f} ms nobody would notice.", wait_ms,
                   kShortWaitMs)});
}

void find_uneven_steps(const LoopFigures& figures, Findings& out) {
  const LoopFigures::Steps& steps = figures.steps;
  const double cv = steps.whole.cv();
  if (cv > kUnevenCv)
    out.push_back({cv > kVeryUnevenCv ? "very_uneven_steps" : "uneven_steps", cv,
                   cv > kVeryUnevenCv ? kVeryUnevenCv : kUnevenCv,
                   fmt::format("Steps take {:.1f} ms +- {:.1f} ms (std/mean {:.2f}). A larger "
                               "prefetch_buffer_size evens out what the loader cannot.",
                               steps.whole.mean_ms, steps.whole.std_ms, cv)});
  if (steps.cyclic_lag > 0 && cv > kEvenCv)
    out.push_back({"cyclic_pattern", static_cast<double>(steps.cyclic_lag), 0,
                   fmt::format("The time of a step repeats every {} steps: batches come in bursts. "
                               "More workers than batches in the buffer, or a reader that fills it "
                               "at once, look like this.",
                               steps.cyclic_lag)});
}

void find_machine(const LoopFigures& figures, Findings& out) {
  const LoopFigures::Machine& machine = figures.machine;
  if (machine.num_readings == 0) return;
  if (machine.gpu_percent && *machine.gpu_percent < kModerateGpuPercent) {
    const bool is_low = *machine.gpu_percent < kLowGpuPercent;
    const bool is_fed =
        figures.steps.count > 0 && verdict_of_stall(figures.data_share()) == LoopVerdict::kHealthy;
    out.push_back({is_low ? "low_gpu_utilization" : "moderate_gpu_utilization",
                   *machine.gpu_percent, is_low ? kLowGpuPercent : kModerateGpuPercent,
                   is_fed ? "The GPU idles although batches are there: look at the host's part of "
                            "the step (small kernels, copies that wait, logging)."
                          : "The GPU idles and waits for data: look at the loader first."});
  }
  const double cpu_percent = std::max(machine.cpu_percent, machine.process_cpu_percent);
  if (cpu_percent > kMostCpuPercent)
    out.push_back({"high_cpu_usage", cpu_percent, kMostCpuPercent,
                   "The processor is full: precomputed features need far less of it, and fewer "
                   "workers leave room for the loop itself."});
  if (machine.memory_percent > kMostMemoryPercent)
    out.push_back({"high_memory_usage", machine.memory_percent, kMostMemoryPercent,
                   "Memory is nearly full: reduce batch_size or prefetch_buffer_size, or read the "
                   "cache by memory mapping."});
}

std::string verdict_sentence(const LoopFigures& figures) {
  if (figures.steps.count == 0) return "No step was timed yet.";
  const double percent = 100 * figures.data_share();
  if (verdict_of_stall(figures.data_share()) == LoopVerdict::kStarved)
    return fmt::format("Data loading is the bottleneck: it takes {:.0f} % of a step.", percent);
  return fmt::format("Compute sets the pace: data takes {:.0f} % of a step.", percent);
}

Json statistics_json(const IntervalStatistics& recent) {
  constexpr double kSPerMs = 1e-3;
  return Json{{"mean_time", recent.mean_ms * kSPerMs}, {"std_time", recent.std_ms * kSPerMs},
              {"min_time", recent.min_ms * kSPerMs},   {"max_time", recent.max_ms * kSPerMs},
              {"p50_time", recent.p50_ms * kSPerMs},   {"p99_time", recent.p99_ms * kSPerMs},
              {"samples", recent.num_intervals}};
}

Json timing_json(const LoopFigures& figures) {
  Json timing = Json::object();
  for (const auto& [name, operation] : figures.operations)
    timing[name] = statistics_json(operation.recent);
  if (figures.steps.count == 0) return timing;
  timing["data_loading"] = statistics_json(figures.steps.data);
  timing["model_compute"] = statistics_json(figures.steps.compute);
  timing["total_step"] = statistics_json(figures.steps.whole);
  return timing;
}

Json machine_json(const LoopFigures::Machine& machine) {
  return Json{{"cpu_percent", machine.cpu_percent},
              {"process_cpu_percent", machine.process_cpu_percent},
              {"memory_percent", machine.memory_percent},
              {"has_gpu", machine.gpu_percent.has_value()},
              {"gpu_utilization", machine.gpu_percent},
              {"gpu_memory_used_bytes", machine.gpu_memory_used_bytes},
              {"gpu_memory_total_bytes", machine.gpu_memory_total_bytes}};
}

double samples_per_second(const LoopFigures::Steps& steps) {
  return steps.total_s > 0 ? static_cast<double>(steps.num_samples) / steps.total_s : 0;
}

std::string machine_text(const LoopFigures::Machine& machine) {
  if (machine.num_readings == 0) return "Machine: no reading was taken\n";
  std::string text =
      fmt::format("Machine ({}):\n", counted(machine.num_readings, "reading", "readings"));
  text += fmt::format("  CPU: {:.1f} %, of that this process {:.1f} % of its cores\n",
                      machine.cpu_percent, machine.process_cpu_percent);
  text += fmt::format("  Memory: {:.1f} %\n", machine.memory_percent);
  if (!machine.gpu_percent) return text + "  GPU: none that the driver tells of\n";
  const double percent = *machine.gpu_percent;
  const char* const word = percent < kLowGpuPercent        ? "low"
                           : percent < kModerateGpuPercent ? "moderate"
                           : percent > kGoodGpuPercent     ? "good"
                                                           : "fair";
  return text + fmt::format("  GPU: {:.1f} % ({})\n", percent, word);
}

std::string time_line(std::string_view name, const IntervalStatistics& recent) {
  return fmt::format("  {}: {:.3f} ms +- {:.3f} ms, {:.3f} to {:.3f} ms (n={})\n", name,
                     recent.mean_ms, recent.std_ms, recent.min_ms, recent.max_ms,
                     recent.num_intervals);
}

std::string times_text(const LoopFigures& figures) {
  const LoopFigures::Steps& steps = figures.steps;
  std::string text;
  if (steps.count > 0) {
    text += fmt::format("Steps: {}, {} samples/s\n", grouped(steps.count),
                        per_second_text(samples_per_second(steps)));
    text += time_line("data loading", steps.data);
    text += time_line("compute", steps.compute);
    text += time_line("step", steps.whole);
  }
  if (!figures.operations.empty()) text += "Operations:\n";
  for (const auto& [name, operation] : figures.operations)
    text += time_line(name, operation.recent);
  if (const std::optional<double> hits = figures.cache_hit_share())
    text += fmt::format("Cache: {:.1f} % hits ({} of {})\n", 100 * *hits,
                        grouped(figures.num_cache_hits),
                        grouped(figures.num_cache_hits + figures.num_cache_misses));
  return text;
}

}  // namespace

double LoopFigures::data_share() const {
  const double step_ms = steps.data.mean_ms + steps.compute.mean_ms;
  return step_ms > 0 ? steps.data.mean_ms / step_ms : 0;
}

std::optional<double> LoopFigures::cache_hit_share() const {
  const std::uint64_t asked = num_cache_hits + num_cache_misses;
  if (asked == 0) return std::nullopt;
  return static_cast<double>(num_cache_hits) / static_cast<double>(asked);
}

std::string_view bottleneck_name(Bottleneck verdict) {
  switch (verdict) {
    case Bottleneck::kDataLoading:
      return "data_loading";
    case Bottleneck::kCompute:
      return "compute";
    case Bottleneck::kUnknown:
      break;
  }
  return "unknown";
}

BottleneckAnalysis analyze(const LoopFigures& figures) {
  BottleneckAnalysis out;
  out.sentence = verdict_sentence(figures);
  if (figures.steps.count > 0) {
    out.data_share = figures.data_share();
    out.compute_share = 1 - out.data_share;
    out.verdict = verdict_of_stall(out.data_share) == LoopVerdict::kStarved
                      ? Bottleneck::kDataLoading
                      : Bottleneck::kCompute;
    find_data_loading(figures, out.findings);
    find_uneven_steps(figures, out.findings);
  }
  find_machine(figures, out.findings);
  return out;
}

Json analysis_json(const LoopFigures& figures) {
  const BottleneckAnalysis analysis = analyze(figures);
  const LoopFigures::Steps& steps = figures.steps;
  Json names = Json::array(), advice = Json::array(), found = Json::array();
  for (const BottleneckAnalysis::Finding& finding : analysis.findings) {
    names.push_back(finding.name);
    advice.push_back(finding.advice);
    found.push_back(
        Json{{"name", finding.name}, {"value", finding.value}, {"limit", finding.limit}});
  }
  return Json{{"verdict", bottleneck_name(analysis.verdict)},
              {"sentence", analysis.sentence},
              {"data_share", analysis.data_share},
              {"compute_share", analysis.compute_share},
              {"bottlenecks", std::move(names)},
              {"recommendations", std::move(advice)},
              {"findings", std::move(found)},
              {"system_metrics", machine_json(figures.machine)},
              {"timing_analysis", timing_json(figures)},
              {"steps", Json{{"count", steps.count},
                             {"samples", steps.num_samples},
                             {"samples_per_second", samples_per_second(steps)},
                             {"cv", steps.whole.cv()},
                             {"cyclic_lag", steps.cyclic_lag}}},
              {"cache", Json{{"hits", figures.num_cache_hits},
                             {"misses", figures.num_cache_misses},
                             {"hit_share", figures.cache_hit_share()}}},
              {"total_samples", figures.machine.num_readings}};
}

std::string analysis_text(const LoopFigures& figures) {
  const BottleneckAnalysis analysis = analyze(figures);
  std::string text = machine_text(figures.machine) + times_text(figures);
  text += fmt::format("Verdict: {}\n", analysis.sentence);
  for (const BottleneckAnalysis::Finding& finding : analysis.findings)
    text += fmt::format("  {}: {}\n", finding.name, finding.advice);
  if (analysis.findings.empty()) text += "  No major bottleneck found.\n";
  return text;
}

}  // namespace stoker::observe
