// Ends the process by name when memory runs out. Each C++ runtime has handlers of its own, and
// libstoker.so may carry another one than the program: both set theirs.
#pragma once

#include <cstdlib>
#include <exception>
#include <new>

namespace stoker {

// The handlers of the runtime that this is compiled into; `Part` is a local type of the file that
// sets them, so that no two parts share the state.
template <class Part>
class OutOfMemoryHandlers {
 public:
  // `end` must not return and must do without memory.
  static void set(void (*end)()) {
    g_end = end;
    std::set_new_handler(end);
    const std::terminate_handler before = std::set_terminate(on_terminate);
    if (before != on_terminate) g_before = before;
  }

 private:
  // What allocates without operator new throws std::bad_alloc by itself, perhaps in a thread or in
  // a function that must not throw. Anything else is a bug: the handler before says what it was.
  [[noreturn]] static void on_terminate() {
    try {
      if (std::current_exception() != nullptr) throw;
    } catch (const std::bad_alloc&) {
      g_end();
    } catch (...) {
    }
    if (g_before != nullptr) g_before();
    std::abort();
  }

  static inline void (*g_end)() = nullptr;
  static inline std::terminate_handler g_before = nullptr;
};

// Sets them in the runtime of libstoker.so. A program that has the same runtime calls this first
// and sets its own handlers after it: each keeps the one before.
void set_library_out_of_memory(void (*end)());

}  // namespace stoker
