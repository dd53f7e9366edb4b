#include "stoker/feed/records/thread_use.h"

#include <sys/resource.h>

namespace stoker::feed {
namespace {

std::int64_t ns_of(const timeval& time) {
  return (time.tv_sec * std::int64_t{1'000'000} + time.tv_usec) * 1000;
}

}  // namespace

void ThreadUse::look() noexcept {
  rusage now{};
  getrusage(RUSAGE_THREAD, &now);
  cpu_ns_ = ns_of(now.ru_utime) + ns_of(now.ru_stime);
  num_minor_ = now.ru_minflt;
  num_major_ = now.ru_majflt;
  is_known_ = !is_shared_;
}

void ThreadUse::finish(std::int64_t now_ns, BatchRecord& record) noexcept {
  record.worker_cpu_ns = -1;
  if (!is_shared_ && now_ns < next_look_ns_) return;
  next_look_ns_ = now_ns + kBetweenLooksNs;
  const ThreadUse before = *this;
  look();
  record.worker_cpu_ns = cpu_ns_ - before.cpu_ns_;
  record.num_minor_faults = static_cast<std::uint32_t>(num_minor_ - before.num_minor_);
  record.num_major_faults = static_cast<std::uint32_t>(num_major_ - before.num_major_);
}

}  // namespace stoker::feed
