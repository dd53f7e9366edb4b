// What an id, a path and a text must be before they are believed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/data/index_options.h"

namespace stoker::data {

inline constexpr std::size_t kMaxIdBytes = 1024;

// Not empty, not only spaces, valid UTF-8, no control characters, and never a path out of the root.
// `at_bytes` is where the id begins in its file. Nothing when all is well.
std::optional<Error> check_id(std::string_view id, std::uint64_t at_bytes);

// A relative path that stays inside: no "..", no leading '/', no drive letter, no NUL.
std::optional<Error> check_path(std::string_view path, std::uint64_t at_bytes);

struct CheckedText {
  std::string_view text;          // trimmed; in `scratch` when something was dropped
  std::uint64_t num_dropped = 0;  // invisible characters left out
};

// Valid UTF-8 without U+FFFD, something that can be spoken, no invisible characters (dropped or
// refused). ZWNJ and ZWJ are letters' business and stay. On failure `error` is set.
struct TextCheck {
  std::optional<Error> error;
  CheckedText checked;
};
TextCheck check_text(std::string_view text, std::uint64_t at_bytes, InvisibleCharacters policy,
                     std::string& scratch);

// Valid UTF-8 throughout; for columns that are kept but not spoken.
std::optional<Error> check_utf8(std::string_view text, std::uint64_t at_bytes);

// Number of characters (code points) of valid UTF-8.
std::uint64_t count_characters(std::string_view text) noexcept;

}  // namespace stoker::data
