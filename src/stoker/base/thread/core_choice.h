// Keeps a thread that works ahead off the core of the one that must not wait.
#pragma once

#include <sched.h>

#include <optional>

namespace stoker {

// The core this thread runs on now; nothing where the system does not tell.
std::optional<int> current_core() noexcept;

// Where one thread may run. Every call is from that thread. The cores it was given stay the limit,
// and where it was given a single one nothing changes.
class CoreChoice {
 public:
  // Leaves `core` and does not come back while this is asked for; the system is only called when
  // the thread is really in the way.
  void keep_off(std::optional<int> core) noexcept;
  // To the core that was left, and from there anywhere again.
  void come_back() noexcept;

 private:
  std::optional<int> left_;
  cpu_set_t given_{};  // before left_ was
};

}  // namespace stoker
