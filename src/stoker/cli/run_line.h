// The line that says how a long run goes on: redrawn in place on a terminal, printed every ten
// seconds elsewhere.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "stoker/base/clock.h"
#include "stoker/base/progress.h"

namespace stoker::cli {

// Not thread-safe. The text has parts with " | " between them; a terminal that is too narrow gets
// as many of the first ones as fit.
class RunLine {
 public:
  explicit RunLine(ProgressSurface& surface, const Clock& clock = system_clock());
  ~RunLine() { clear(); }
  RunLine(const RunLine&) = delete;
  RunLine& operator=(const RunLine&) = delete;

  void show(std::string_view text);
  // Takes the line away, so that something else can be printed; the next show() draws it again.
  void clear();

 private:
  ProgressSurface& surface_;
  const Clock& clock_;
  std::chrono::nanoseconds last_plain_;
  bool is_drawn_ = false;
};

// The first parts of `text` that fit so many columns, and what fits of the first one at least.
std::string fitted_parts(std::string_view text, std::size_t num_columns);

}  // namespace stoker::cli
