// Files with one JSON object a line, which another process may be writing or was killed while
// writing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"

namespace stoker::observe {

// Calls `take` for every whole line that is JSON, in order, in memory that does not grow with the
// file; returns how many lines were left out. Fails with what opening and reading give.
Result<std::uint64_t> read_json_lines(Io& io, const std::string& path,
                                      const std::function<void(const Json& line)>& take);

// The member where it is a number, or true and false as 1 and 0.
std::optional<double> number_in(const Json& line, std::string_view key);
// The member where it is a text, else empty.
std::string text_in(const Json& line, std::string_view key);

}  // namespace stoker::observe
