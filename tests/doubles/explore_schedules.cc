#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/doubles/pct_scheduler.h"

namespace stoker {

std::string ScheduleKey::text() const {
  return fmt::format("seed={} depth={} expected_steps={}", seed, depth, expected_steps);
}

Exploration explore_schedules(std::uint64_t num_schedules, std::uint64_t first_seed,
                              const std::function<void(PctScheduler&)>& body) {
  Exploration result;
  std::set<std::uint64_t> traces;
  ScheduleKey key{.seed = first_seed};
  {
    PctScheduler trial(key);
    trial.run([&] { body(trial); });
    key.expected_steps = std::max<std::uint64_t>(1, trial.num_steps());
  }
  for (; result.num_schedules < num_schedules; ++result.num_schedules) {
    PctScheduler scheduler(key);
    scheduler.run([&] { body(scheduler); });
    traces.insert(scheduler.trace_hash());
    result.longest_steps = std::max(result.longest_steps, scheduler.num_steps());
    ++key.seed;
  }
  result.num_distinct = traces.size();
  return result;
}

}  // namespace stoker
