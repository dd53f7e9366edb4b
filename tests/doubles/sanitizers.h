// Which sanitizer a test is built with: some measure what a sanitizer changes, or plant what it
// reports.
#pragma once

#include <string_view>

namespace stoker {

// As given to -fsanitize=.
inline constexpr std::string_view kSanitizer = STOKER_TEST_SANITIZER;
inline constexpr bool kUnderSanitizer = !kSanitizer.empty();
inline constexpr bool kUnderThreadSanitizer = kSanitizer == "thread";

}  // namespace stoker
