// Text and bytes made safe inside XML and HTML.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

// & < > " ' escaped; control characters and invalid UTF-8 shown as \xNN.
std::string escape_markup(std::string_view text);

// Whether letters of Arabic script, which Persian is written in, are in the text.
bool has_right_to_left_letter(std::string_view text);

// Escaped text for a line of a chart, which runs from left to right: Persian is set apart so that
// it keeps its own direction.
std::string escape_chart_text(std::string_view text);

// RFC 4648, padded.
std::string base64(std::span<const std::byte> bytes);

// "data:image/png;base64,…"
std::string data_uri(std::string_view media_type, std::span<const std::byte> bytes);

}  // namespace stoker
