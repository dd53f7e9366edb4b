// Whether a stream is looked at by a person, and the few colours used there.
#pragma once

#include <string>
#include <string_view>

namespace stoker::cli {

enum class Stream { kOut, kErr };
enum class Colour { kRed, kYellow, kGreen, kDim, kBold };

bool is_terminal(Stream stream);

// `text` in colour where the stream is a terminal and NO_COLOR is unset or empty; else as it is.
std::string coloured(std::string_view text, Colour colour, Stream stream);

}  // namespace stoker::cli
