#include "stoker/cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace stoker::cli {
namespace {

std::string_view escape_of(Colour colour) {
  switch (colour) {
    case Colour::kRed:
      return "\x1b[31m";
    case Colour::kYellow:
      return "\x1b[33m";
    case Colour::kGreen:
      return "\x1b[32m";
    case Colour::kDim:
      return "\x1b[2m";
    case Colour::kBold:
      return "\x1b[1m";
  }
  return "";
}

bool colours_wanted(Stream stream) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* kind = std::getenv("TERM");
  if (kind != nullptr && std::string_view(kind) == "dumb") return false;
  return is_terminal(stream);
}

}  // namespace

bool is_terminal(Stream stream) {
  return isatty(stream == Stream::kOut ? STDOUT_FILENO : STDERR_FILENO) == 1;
}

std::string coloured(std::string_view text, Colour colour, Stream stream) {
  if (!colours_wanted(stream)) return std::string(text);
  return fmt::format("{}{}\x1b[0m", escape_of(colour), text);
}

bool write_line(std::string_view line, Stream stream) {
  const std::string text = std::string(line) + "\n";
  std::FILE* file = stream == Stream::kOut ? stdout : stderr;
  // Where both streams go to one file, lines keep their order and stay whole.
  if (stream == Stream::kErr) std::fflush(stdout);
  return std::fwrite(text.data(), 1, text.size(), file) == text.size();
}

}  // namespace stoker::cli
