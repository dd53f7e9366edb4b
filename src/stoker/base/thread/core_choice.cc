#include "stoker/base/thread/core_choice.h"

namespace stoker {

std::optional<int> current_core() noexcept {
  const int core = sched_getcpu();
  return core < 0 ? std::nullopt : std::optional(core);
}

void CoreChoice::keep_off(std::optional<int> core) noexcept {
  if (core == left_) return;
  come_back();
  if (!core || current_core() != core) return;
  if (sched_getaffinity(0, sizeof given_, &given_) != 0) return;
  cpu_set_t others = given_;
  CPU_CLR(static_cast<unsigned>(*core), &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0) left_ = core;
}

// The system would leave it beside whoever it met on the other core for many milliseconds.
void CoreChoice::come_back() noexcept {
  if (!left_) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(*left_), &one);
  sched_setaffinity(0, sizeof one, &one);
  sched_setaffinity(0, sizeof given_, &given_);
  left_.reset();
}

}  // namespace stoker
