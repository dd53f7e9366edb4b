// The terminal while a live view is on it: another screen, no cursor, keys without Enter; and as it
// was before, whatever ends the view.
#pragma once

#include <termios.h>

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "stoker/observe/live/live_screen.h"

namespace stoker::cli {

// Whether stdout is a terminal that can be redrawn.
bool can_show_live();
// By locale, NO_COLOR and TERM.
observe::ScreenStyle terminal_style();
observe::ScreenSize terminal_size();

// Takes the terminal from construction to destruction, or to the stop: then at once and from
// whatever thread asks for it, so that a view that hangs leaves no broken terminal behind.
class LiveTerminal {
 public:
  explicit LiveTerminal(const std::stop_token& stop);
  ~LiveTerminal();
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;

  // One write of one frame: nothing is cleared that is drawn again.
  void draw(const std::vector<std::string>& rows);
  // Whether a key was pressed that ends the view, or the terminal is gone.
  bool is_ended_by_key();

 private:
  void restore();

  Mutex mutex_;
  bool is_taken_ STOKER_GUARDED_BY(mutex_) = true;
  std::optional<termios> before_;  // of stdin, where that is a terminal
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace stoker::cli
