// What the files of the module share: how settings, failures and reports cross into Python.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/config/load.h"

namespace stoker::python {

namespace nb = nanobind;

// Keyword arguments as names and values written down, in the order given.
using Keywords = std::vector<std::pair<std::string, std::string>>;

// The settings that a call means: file < environment < keywords. `call` ("Feed") is what messages
// name; what they have to say goes to the log. Throws ConfigError.
config::Settings settings_of(const std::string& call, const std::string& config_file,
                             const Keywords& keywords);

// Runs pending Python signal handlers, and passes messages on, from a wait without the GIL; false
// where one raised, and its exception then is what the call ends with, or the interpreter ends.
bool may_go_on();

// Hands what the library said since the last call to Python's logging; cheap where it said nothing.
// Precondition: the GIL is held.
void pass_on_log();

// Gives the GIL away for as long as it lives. A thread that would come back while the interpreter
// ends never does: Python would end it there, through C++ frames that cannot be left that way. It
// then clears `is_inside`, where given, first.
class GilReleased {
 public:
  explicit GilReleased(std::atomic<bool>* is_inside = nullptr)
      : state_(PyEval_SaveThread()), is_inside_(is_inside) {}
  ~GilReleased();
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* const state_;
  std::atomic<bool>* const is_inside_;
};

// Calls what may take long: without the GIL, and with every exception of Python kept.
template <class Body>
auto without_gil(Body&& body) {
  const GilReleased released;
  return std::forward<Body>(body)();
}

void bind_gil(nb::module_& module);
void bind_errors(nb::module_& module);
void bind_log(nb::module_& module);
void bind_settings(nb::module_& module);
void bind_tensor(nb::module_& module);
void bind_batch(nb::module_& module);
void bind_feed(nb::module_& module);
void bind_monitor(nb::module_& module);
void bind_verbs(nb::module_& module);
void bind_cache(nb::module_& module);
void bind_data(nb::module_& module);
void bind_train(nb::module_& module);

}  // namespace stoker::python
