// The two standard streams: whether a person looks, the few colours used there, and writing lines.
#pragma once

#include <string>
#include <string_view>

namespace stoker::cli {

enum class Stream { kOut, kErr };
enum class Colour { kRed, kYellow, kGreen, kDim, kBold };

bool is_terminal(Stream stream);

// `text` in colour where the stream is a terminal and NO_COLOR is unset or empty; else as it is.
std::string coloured(std::string_view text, Colour colour, Stream stream);

// Writes the line and its end. False when the stream refused it; stdout may refuse only later, when
// it is flushed.
bool write_line(std::string_view line, Stream stream);

}  // namespace stoker::cli
