#include "stoker/cli/live_terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "stoker/base/progress.h"
#include "stoker/cli/terminal.h"

namespace stoker::cli {
namespace {

constexpr std::string_view kTake = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J";
constexpr std::string_view kGiveBack = "\x1b[?25h\x1b[?1049l";
// Terminals that know it show the frame when it is whole; others ignore it.
constexpr std::string_view kFrameBegin = "\x1b[?2026h\x1b[H";
constexpr std::string_view kFrameEnd = "\x1b[J\x1b[?2026l";

// Straight to the terminal: a buffer would cut frames.
void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::optional<termios> keys_without_enter() {
  termios before{};
  // A program in the background would be stopped for changing the terminal.
  if (::isatty(STDIN_FILENO) != 1 || ::tcgetpgrp(STDIN_FILENO) != ::getpgrp() ||
      ::tcgetattr(STDIN_FILENO, &before) != 0)
    return std::nullopt;
  termios keys = before;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  keys.c_cc[VSUSP] = _POSIX_VDISABLE;  // a stopped view would keep the other screen
  keys.c_cc[VMIN] = 0;
  keys.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  return before;
}

}  // namespace

bool can_show_live() {
  const char* const kind = std::getenv("TERM");
  const bool is_dumb = kind == nullptr || *kind == '\0' || std::string_view(kind) == "dumb";
  return is_terminal(Stream::kOut) && !is_dumb;
}

observe::ScreenStyle terminal_style() {
  const char* const no_colour = std::getenv("NO_COLOR");
  return {.shows_unicode = stderr_surface().shows_unicode(),
          .shows_colour = no_colour == nullptr || *no_colour == '\0'};
}

observe::ScreenSize terminal_size() {
  winsize size{};
  observe::ScreenSize out;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return out;
  return {.num_columns = size.ws_col, .num_rows = size.ws_row};
}

LiveTerminal::LiveTerminal(const std::stop_token& stop) : before_(keys_without_enter()) {
  put(kTake);
  on_stop_.emplace(stop, [this] { restore(); });
}

LiveTerminal::~LiveTerminal() {
  on_stop_.reset();
  restore();
}

void LiveTerminal::restore() {
  const Lock lock(mutex_);
  if (!is_taken_) return;
  is_taken_ = false;
  put(kGiveBack);
  if (before_) ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

void LiveTerminal::draw(const std::vector<std::string>& rows) {
  std::string frame(kFrameBegin);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    frame += rows[i] + "\x1b[K";
    if (i + 1 < rows.size()) frame += "\r\n";
  }
  frame += kFrameEnd;
  const Lock lock(mutex_);
  if (is_taken_) put(frame);
}

bool LiveTerminal::is_ended_by_key() {
  pollfd keys{.fd = before_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0};
  if (::poll(&keys, 1, 0) <= 0) return false;
  char key = 0;
  // Without a key the terminal is gone.
  return ::read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q';
}

}  // namespace stoker::cli
