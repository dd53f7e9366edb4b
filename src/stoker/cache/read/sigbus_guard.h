// Reads from a file mapping that may be cut short under us: the fault becomes a return value.
#pragma once

#include <cstddef>
#include <span>

namespace stoker::cache {

// Calls `body(context)` while touching `memory` is guarded in this thread: when the kernel sends
// SIGBUS for an address inside it, the call is abandoned and false comes back. `body` must own
// nothing that needs a destructor. SIGBUS elsewhere goes to whoever handled it before. Nests: the
// innermost guard counts.
bool run_guarded(std::span<const std::byte> memory, void (*body)(void*), void* context);

// The same for any callable that owns nothing.
template <class Body>
bool guarded(std::span<const std::byte> memory, Body& body) {
  return run_guarded(
      memory, [](void* context) { (*static_cast<Body*>(context))(); }, &body);
}

}  // namespace stoker::cache
