// Assertions that stay on in release: a broken invariant is a bug, and a bug stops the process at
// once.
#pragma once

#include <source_location>
#include <string_view>

namespace stoker {

// Writes what and where to stderr and aborts (exit 134).
[[noreturn]] void invariant_broken(std::string_view what, const std::source_location& at);

inline void check_invariant(bool holds, std::string_view what,
                            const std::source_location& at = std::source_location::current()) {
  if (!holds) [[unlikely]]
    invariant_broken(what, at);
}

}  // namespace stoker
