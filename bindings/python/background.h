// Long work in a thread of its own, while the thread that called keeps Python going: signals,
// callbacks and log lines come from that thread alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "crossing.h"
#include "stoker/base/json.h"
#include "stoker/base/progress.h"
#include "stoker/base/thread/sync.h"

namespace stoker::python {

// What the caller wants to hear; None: nothing.
struct Listeners {
  nb::object on_progress;            // (done, total)
  nb::object on_event = nb::none();  // (text of a JSON object)
};

// For one call. The members that work uses are thread-safe and never wait for the interpreter.
class Background final : public Progress {
 public:
  explicit Background(Listeners listeners) : listeners_(std::move(listeners)) {}

  // Gives what `work` gives, with the warnings of the call. Throws what it throws; where a signal
  // handler or a listener raised, that is what the call ends with, after the work was asked to stop
  // and has ended. Precondition: the GIL is held.
  std::string run(const std::function<Json()>& work);

  std::stop_token stop_token() const { return stop_.get_token(); }
  void say(const std::string& line);
  void warn(const std::string& line);
  void tell(const Json& event);

  void set_total(std::uint64_t num_units) override { num_total_.store(num_units); }
  void advance(std::uint64_t num_units) override { num_done_.fetch_add(num_units); }
  void reject(std::uint64_t) override {}

 private:
  void work_and_end(const std::function<Json()>& work);
  bool await();
  void look_up();
  void listen();

  const Listeners listeners_;
  std::stop_source stop_;
  std::atomic<std::uint64_t> num_total_{0};
  std::atomic<std::uint64_t> num_done_{0};
  std::uint64_t num_shown_ = 0;
  bool has_shown_ = false;
  std::exception_ptr raised_;  // by Python; touched with the GIL held

  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<std::string> events_ STOKER_GUARDED_BY(mutex_);
  std::vector<std::string> warnings_ STOKER_GUARDED_BY(mutex_);
  bool has_ended_ STOKER_GUARDED_BY(mutex_) = false;
  Json result_;  // of the work; read after it ended
  std::exception_ptr failure_;
};

}  // namespace stoker::python
