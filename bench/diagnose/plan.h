// What a trial plants: read from JSON, so that the driver draws it and the result can be run again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"

namespace stoker::bench {

// Storage that takes its time, for files whose path has `only` in it.
struct StoragePlan {
  double open_ms = 0;
  double read_ms = 0;     // each read
  double mb_per_s = 0;    // of all reads together; 0: no limit
  double only_first = 0;  // so many opens; 0: all
  std::string only{};
};

// A stage that takes longer, for each utterance whose file has `only` in its name.
struct StagePlan {
  std::string stage{};  // empty: none
  double cpu_ms = 0;
  double wait_ms = 0;
  bool is_serial = false;  // one worker at a time, until the utterance is read
  double chance = 1;       // of an utterance to be hit
  std::string only{};
};

// What a consumer does beside a step of the length that it is given.
struct ConsumerPlan {
  double step_factor = 1;
  std::string work{};  // "logging", …; "unsaid": not noted; empty: none
  std::uint64_t every = 1;
  double work_ms = 0;
  bool is_busy = false;  // the work takes a core; else it waits
  std::uint64_t num_held = 0;
};

// A consumer whose steps are kernels.
struct DevicePlan {
  std::uint64_t num_tiny = 0;  // launches a step, in place of matrix products
  double pause_ms = 0;         // of the host after each step, once the GPU has done it
  std::uint64_t num_on_bus = 0;
};

// What a sampler reports in place of the machine's own figures.
struct MachinePlan {
  std::string storage_kind{};
  std::optional<double> gpu_clock_share{};  // of a card that is held down by heat
  std::optional<double> swap_in_pages_per_s{};
  std::optional<double> memory_pressure{};
  std::optional<double> other_cores{};
};

struct Plan {
  std::vector<std::string> settings{};  // "data.path=…"
  std::optional<double> step_ms{};
  double budget_s = 5;
  bool applies = false;
  StoragePlan storage{};
  StagePlan stage{};
  std::optional<ConsumerPlan> consumer{};
  std::optional<DevicePlan> device{};  // with the setting `device` on a GPU
  MachinePlan machine{};
};

// Throws std::out_of_range for what is not a plan.
Plan plan_of(const Json& json);

}  // namespace stoker::bench
