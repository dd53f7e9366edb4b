// From the figures of a training loop to a verdict: is it the data, the compute, or the machine?
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/observe/statistics.h"

namespace stoker::observe {

// Averages are over what is kept, counts over everything.
struct LoopFigures {
  struct Steps {
    std::uint64_t count = 0;
    std::uint64_t num_samples = 0;
    double total_s = 0;  // data and compute of all steps
    IntervalStatistics data, compute, whole;
    std::size_t cyclic_lag = 0;  // of the whole steps, as statistics.h says
  };
  struct Operation {
    std::uint64_t count = 0;
    double total_s = 0;
    IntervalStatistics recent;
  };
  struct Machine {
    std::uint64_t num_readings = 0;
    double cpu_percent = 0;
    double process_cpu_percent = 0;
    double memory_percent = 0;
    std::optional<double> gpu_percent{};
    std::optional<std::uint64_t> gpu_memory_used_bytes{};
    std::optional<std::uint64_t> gpu_memory_total_bytes{};
  };

  Steps steps;
  std::map<std::string, Operation> operations;
  Machine machine;
  std::uint64_t num_cache_hits = 0;
  std::uint64_t num_cache_misses = 0;

  double data_share() const;  // of the time of the steps that are kept; 0 without a step
  std::optional<double> cache_hit_share() const;
};

enum class Bottleneck : std::uint8_t { kUnknown, kDataLoading, kCompute };
std::string_view bottleneck_name(Bottleneck verdict);  // "unknown", "data_loading", "compute"

struct BottleneckAnalysis {
  struct Finding {
    std::string name;  // "data_loading_bottleneck"
    double value = 0;
    double limit = 0;  // beyond which it is a finding, in the unit of `value`
    std::string advice;
  };

  Bottleneck verdict = Bottleneck::kUnknown;
  std::string sentence;  // the verdict, with its figure
  double data_share = 0;
  double compute_share = 0;
  std::vector<Finding> findings;  // the weightiest first
};

BottleneckAnalysis analyze(const LoopFigures& figures);

// system_metrics, timing_analysis, bottlenecks and recommendations as myxtts named them, with
// verdict, steps, cache and the findings' figures.
Json analysis_json(const LoopFigures& figures);
std::string analysis_text(const LoopFigures& figures);

}  // namespace stoker::observe
