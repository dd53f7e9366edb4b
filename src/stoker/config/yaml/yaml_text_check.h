// Refuses settings text that a YAML reader would misread or only half understand.
#pragma once

#include <string>
#include <string_view>

namespace stoker::config {

// The text without a UTF-8 byte order mark. Throws ConfigError with line and column for bytes that
// are not UTF-8, control characters, other encodings, and tabs that indent.
std::string_view check_yaml_text(std::string_view text, const std::string& name);

}  // namespace stoker::config
