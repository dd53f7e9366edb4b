#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "tests/doubles/pct_scheduler.h"

namespace stoker {

std::string ScheduleKey::text() const {
  return fmt::format("seed={} depth={} expected_steps={} switch_one_in={}", seed, depth,
                     expected_steps, switch_one_in);
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
  constexpr unsigned kSwitchOneIn[] = {0, 3, 0, 8};
  for (; result.num_schedules < num_schedules; ++result.num_schedules) {
    key.switch_one_in = kSwitchOneIn[key.seed % std::size(kSwitchOneIn)];
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
