// The view for a terminal: rows that fit a window of any size from 40×8 on, and one plain line for
// where there is no terminal.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "stoker/observe/live/live_figures.h"
#include "stoker/observe/live/screen_line.h"

namespace stoker::observe {

struct ScreenSize {
  std::size_t num_columns = 80;
  std::size_t num_rows = 24;
};

// Remembers what it was given for the curves of wide windows. One thread at a time.
class LiveScreen {
 public:
  explicit LiveScreen(const ScreenStyle& style) : style_(style) {}

  void add(FiguresPtr figures);
  // A few words for the first row.
  void set_note(std::string note) { note_ = std::move(note); }
  // At most `num_rows` lines of at most `num_columns` columns, of the newest figures.
  std::vector<std::string> rows(const ScreenSize& size) const;

 private:
  class Drawing;
  ScreenStyle style_;
  std::string note_;
  std::deque<FiguresPtr> history_;  // the newest last
};

// "05:06:50  cpu 1.9/2  mem 3.1/15.6 GiB  …  feed 12.3 batches/s …", without colours.
std::string live_line(const LiveFigures& figures);

}  // namespace stoker::observe
