// JSON text for the places where base itself writes it; reading is left to a library.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

// Quoted and escaped; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

}  // namespace stoker
