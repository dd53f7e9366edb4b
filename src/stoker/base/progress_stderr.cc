#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "stoker/base/progress.h"

namespace stoker {
namespace {

class StderrSurface final : public ProgressSurface {
 public:
  bool is_terminal() const override { return ::isatty(STDERR_FILENO) == 1; }

  std::size_t num_columns() const override {
    winsize window{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    return known ? window.ws_col : 80;
  }

  bool shows_unicode() const override {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
      const char* const value = std::getenv(name);
      if (value == nullptr || *value == '\0') continue;
      const std::string locale(value);
      return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
    return false;
  }

  void write(std::string_view text) override {
    while (!text.empty()) {
      const ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
      if (put <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(put));
    }
  }
};

}  // namespace

ProgressSurface& stderr_surface() {
  static StderrSurface surface;
  return surface;
}

}  // namespace stoker
