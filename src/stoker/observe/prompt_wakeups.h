// Makes the stand-in for a trainer as punctual as a GPU: its steps are to end when they should, so
// that what is late is the feed and not its own waking up.
#pragma once

namespace stoker::observe {

// While it lives this thread's sleeps are timed to the nanosecond and it asks for a short slice of
// the processor, with which Linux lets it interrupt threads of longer ones. Rights are not needed;
// where the kernel knows neither, nothing happens.
class PromptWakeups {
 public:
  PromptWakeups() noexcept;
  ~PromptWakeups();
  PromptWakeups(const PromptWakeups&) = delete;
  PromptWakeups& operator=(const PromptWakeups&) = delete;

 private:
  int slack_before_ns_ = 0;
};

}  // namespace stoker::observe
