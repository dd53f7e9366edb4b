// How threads leave the interpreter and come back to it, while it runs and when it ends.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "crossing.h"

namespace stoker::python {
namespace {

std::atomic<bool> is_ending{false};
std::atomic<int> num_returning{0};  // threads that wait for the GIL
std::thread::id ending_thread;      // set before is_ending

// Either a thread is counted before the end begins, and the end waits for it, or it sees the end.
bool begin_return() {
  num_returning.fetch_add(1);
  if (!is_ending.load() || std::this_thread::get_id() == ending_thread) return true;
  num_returning.fetch_sub(1);
  return false;
}

void end_interpreter() {
  ending_thread = std::this_thread::get_id();
  is_ending.store(true);
  PyThreadState* const state = PyEval_SaveThread();
  while (num_returning.load() > 0) ::usleep(200);
  PyEval_RestoreThread(state);
}

}  // namespace

GilReleased::~GilReleased() {
  if (!begin_return()) {
    if (is_inside_ != nullptr) is_inside_->store(false);
    while (true) ::pause();
  }
  PyEval_RestoreThread(state_);
  num_returning.fetch_sub(1);
}

bool may_go_on() {
  if (!begin_return()) return false;
  const nb::gil_scoped_acquire held;
  num_returning.fetch_sub(1);
  try {
    pass_on_log();
  } catch (nb::python_error& error) {
    error.restore();
    return false;
  }
  return PyErr_CheckSignals() == 0;
}

void bind_gil(nb::module_& module) {
  // The threads that were on their way back are not in a forked process.
  pthread_atfork(nullptr, nullptr, [] { num_returning.store(0); });
  module.def("end_interpreter", &end_interpreter,
             "From here on no thread comes back from a wait; called when the interpreter ends.");
}

}  // namespace stoker::python
