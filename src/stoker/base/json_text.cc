#include "stoker/base/json_text.h"

#include <fmt/format.h>

#include "stoker/base/utf8.h"

namespace stoker {
namespace {

void append_escaped(std::string& out, const Utf8Char& next, std::string_view bytes) {
  if (!next.valid) {
    out += "\xEF\xBF\xBD";
  } else if (next.code_point == '"' || next.code_point == '\\') {
    out += '\\';
    out += bytes;
  } else if (next.code_point == '\n') {
    out += "\\n";
  } else if (next.code_point < 0x20 || next.code_point == 0x7F) {
    out += fmt::format("\\u{:04x}", next.code_point);
  } else {
    out += bytes;
  }
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    append_escaped(out, next, text.substr(0, next.size_bytes));
    text.remove_prefix(next.size_bytes);
  }
  return out + "\"";
}

}  // namespace stoker
