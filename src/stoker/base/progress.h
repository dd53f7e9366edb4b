// How far long work has come: the library counts, the program decides how it is shown.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/base/clock.h"

namespace stoker {

// What working code reports to. Thread-safe and cheap: called once per utterance by every worker.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void set_total(std::uint64_t num_units) = 0;  // 0 = not known
  virtual void advance(std::uint64_t num_units) = 0;    // done, rejected ones included
  virtual void reject(std::uint64_t num_units) = 0;     // of those, not usable
};

// For callers that show nothing.
Progress& no_progress();

// Where progress is shown.
class ProgressSurface {
 public:
  virtual ~ProgressSurface() = default;
  virtual bool is_terminal() const = 0;
  virtual std::size_t num_columns() const = 0;
  virtual bool shows_unicode() const = 0;
  virtual void write(std::string_view text) = 0;
};

ProgressSurface& stderr_surface();

// On a terminal one line that is redrawn ten times a second:
//   build cache  █████████░░░░░░░░░░░░░░░  38 %  4,978/13,100 records  412/s  19.7 s left  3
//   rejected
// and that leaves out what a narrow terminal has no room for; elsewhere a plain line every ten
// seconds. Work that ends within two seconds shows nothing.
class ProgressBar final : public Progress {
 public:
  struct Options {
    std::string task;             // "build cache"
    std::string unit;             // "clips"
    std::uint64_t num_total = 0;  // 0 = not known
  };

  ProgressBar(Options options, ProgressSurface& surface, const Clock& clock = system_clock());
  // Finishes the line, where one was begun.
  ~ProgressBar() override;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void set_total(std::uint64_t num_units) override;
  void advance(std::uint64_t num_units) override;
  void reject(std::uint64_t num_units) override;
  // Draws when it is time to; advance() does so by itself.
  void tick();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker
