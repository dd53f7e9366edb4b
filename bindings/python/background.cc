#include "background.h"

#include <nanobind/stl/string.h>

#include <chrono>
#include <utility>

#include "stoker/base/log.h"

namespace stoker::python {
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};

}  // namespace

void Background::say(const std::string& line) { log(LogLevel::kInfo, line); }

void Background::warn(const std::string& line) {
  log(LogLevel::kWarning, line);
  const Lock lock(mutex_);
  warnings_.push_back(line);
}

void Background::tell(const Json& event) {
  {
    const Lock lock(mutex_);
    events_.push_back(event.dump());
  }
  changed_.notify_all();
}

void Background::work_and_end(const std::function<Json()>& work) {
  try {
    result_ = work();
  } catch (...) {
    failure_ = std::current_exception();
  }
  {
    const Lock lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
}

// Whether the work has ended; comes back now and then where it has not.
bool Background::await() {
  const GilReleased released;
  const Deadline next = Deadline::after(system_clock(), kLookEvery);
  Lock lock(mutex_);
  while (!has_ended_ && events_.empty())
    if (changed_.wait_until(lock, {}, next) == WaitEnd::kDeadline) break;
  return has_ended_;
}

void Background::listen() {
  pass_on_log();
  std::vector<std::string> events;
  {
    const Lock lock(mutex_);
    events.swap(events_);
  }
  if (!listeners_.on_event.is_none())
    for (const std::string& event : events) listeners_.on_event(event);
  if (listeners_.on_progress.is_none()) return;
  const std::uint64_t num_done = num_done_.load();
  if (has_shown_ && num_done == num_shown_) return;
  has_shown_ = true;
  num_shown_ = num_done;
  listeners_.on_progress(num_done, num_total_.load());
}

// After the first exception nothing is called any more: the work only has to end.
void Background::look_up() {
  if (raised_) return;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    listen();
  } catch (nb::python_error&) {
    raised_ = std::current_exception();
    stop_.request_stop();
  }
}

std::string Background::run(const std::function<Json()>& work) {
  {
    Thread worker("python-call", [&](const std::stop_token&) { work_and_end(work); });
    while (!await()) look_up();
    const GilReleased released;
    worker.join();
  }
  look_up();
  if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
  if (failure_) std::rethrow_exception(failure_);
  const Lock lock(mutex_);
  if (!warnings_.empty()) result_["warnings"] = warnings_;
  return result_.dump();
}

}  // namespace stoker::python
