#include "stoker/cli/run_line.h"

#include <algorithm>

#include "stoker/base/utf8.h"

namespace stoker::cli {
namespace {

constexpr std::chrono::seconds kPlainEvery{10};
constexpr std::string_view kBetween = " | ";

std::size_t num_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string fitted_parts(std::string_view text, std::size_t num_columns) {
  while (num_characters(text) > num_columns) {
    const std::size_t cut = text.rfind(kBetween);
    if (cut == text.npos) break;
    text = text.substr(0, cut);
  }
  std::string out;
  for (std::size_t column = 0; !text.empty() && column < num_columns; ++column) {
    const Utf8Char next = decode_utf8(text);
    out += text.substr(0, next.size_bytes);
    text.remove_prefix(next.size_bytes);
  }
  return out;
}

RunLine::RunLine(ProgressSurface& surface, const Clock& clock)
    : surface_(surface), clock_(clock), last_plain_(clock.now()) {}

void RunLine::show(std::string_view text) {
  if (surface_.is_terminal()) {
    // The last column stays free: a terminal may wrap behind it.
    const std::size_t room = std::max<std::size_t>(surface_.num_columns(), 2) - 1;
    surface_.write("\r\x1b[K" + fitted_parts(text, room));
    is_drawn_ = true;
    return;
  }
  const std::chrono::nanoseconds now = clock_.now();
  if (now - last_plain_ < kPlainEvery) return;
  last_plain_ = now;
  surface_.write(std::string(text) + "\n");
}

void RunLine::clear() {
  if (is_drawn_) surface_.write("\r\x1b[K");
  is_drawn_ = false;
}

}  // namespace stoker::cli
