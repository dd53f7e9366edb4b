#include "stoker/observe/prompt_wakeups.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace stoker::observe {
namespace {

constexpr std::uint64_t kShortestSliceNs = 100'000;  // that Linux takes

// As the kernel reads it; its own header does not go together with <sched.h>.
struct SchedulingAttributes {
  std::uint32_t size_bytes = sizeof(SchedulingAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t slice_ns = 0;  // of a normal thread since Linux 6.12; 0: the usual one
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

void set_slice(std::uint64_t slice_ns) noexcept {
  SchedulingAttributes own;
  if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0 || own.policy != SCHED_OTHER) return;
  own.slice_ns = slice_ns;
  syscall(SYS_sched_setattr, 0, &own, 0);
}

}  // namespace

PromptWakeups::PromptWakeups() noexcept : slack_before_ns_(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) {
  prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
  set_slice(kShortestSliceNs);
}

PromptWakeups::~PromptWakeups() {
  if (slack_before_ns_ > 0)
    prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_before_ns_), 0, 0, 0);
  set_slice(0);
}

}  // namespace stoker::observe
