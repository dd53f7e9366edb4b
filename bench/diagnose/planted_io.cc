#include "bench/diagnose/planted_io.h"

#include <algorithm>
#include <thread>

namespace stoker::bench {

bool PlantedIo::is_slow(const std::string& path) {
  constexpr std::array<std::string_view, 5> kSounds{".wav", ".flac", ".ogg", ".mp3", ".opus"};
  const bool is_sound = std::any_of(kSounds.begin(), kSounds.end(),
                                    [&](std::string_view end) { return path.ends_with(end); });
  if (!has_begun_ || !is_sound || path.find(plan_.only) == std::string::npos) return false;
  const std::lock_guard lock(mutex_);
  return plan_.only_first == 0 || static_cast<double>(num_opens_++) < plan_.only_first;
}

void PlantedIo::pass(double latency_ms, std::size_t num_bytes) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  using Clock = std::chrono::steady_clock;
  const auto span = [](double ms) {
    return std::chrono::duration_cast<Clock::duration>(Milliseconds(ms));
  };
  Clock::time_point until = Clock::now() + span(latency_ms);
  if (plan_.mb_per_s > 0) {
    const std::lock_guard lock(mutex_);
    free_at_ = std::max(free_at_, Clock::now()) +
               span(static_cast<double>(num_bytes) / plan_.mb_per_s / 1e3);
    until = std::max(until, free_at_);
  }
  std::this_thread::sleep_until(until);
}

SysResult PlantedIo::open_at(int folder, const std::string& path, const OpenHow& how) {
  const bool is_slowed = is_slow(path);
  if (is_slowed && plan_.open_ms > 0) pass(plan_.open_ms, 0);
  const SysResult opened = inner_.open_at(folder, path, how);
  if (!opened.ok()) return opened;
  const std::lock_guard lock(mutex_);
  slow_handles_[static_cast<int>(opened.value)] = is_slowed;
  return opened;
}

SysResult PlantedIo::close(int handle) {
  {
    const std::lock_guard lock(mutex_);
    slow_handles_.erase(handle);
  }
  return inner_.close(handle);
}

SysResult PlantedIo::pread(int handle, std::span<std::byte> into, std::uint64_t offset_bytes) {
  bool is_slowed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = slow_handles_.find(handle);
    is_slowed = found != slow_handles_.end() && found->second;
  }
  const SysResult got = inner_.pread(handle, into, offset_bytes);
  if (is_slowed && got.ok() && got.value > 0)
    pass(plan_.read_ms, static_cast<std::size_t>(got.value));
  return got;
}

}  // namespace stoker::bench
