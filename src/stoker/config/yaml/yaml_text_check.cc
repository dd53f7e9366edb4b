#include "stoker/config/yaml/yaml_text_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/utf8.h"
#include "stoker/config/errors.h"

namespace stoker::config {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20U;

[[noreturn]] void refuse_at(std::string_view text, std::size_t at, const std::string& name,
                            std::string found) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  raise(
      {.code = &kConfigYaml,
       .place = {.file = name,
                 .line =
                     static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')) + 1,
                 .column = at - line_start + 1},
       .promised = "UTF-8 text indented with spaces",
       .found = std::move(found)});
}

bool is_refused_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

// A tab before the first word of a line would shift it by an unknown amount.
void refuse_indenting_tabs(std::string_view text, const std::string& name) {
  bool indenting = true;
  std::size_t tab = text.npos;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      indenting = true;
      tab = text.npos;
    } else if (indenting && c == '\t') {
      tab = std::min(tab, at);
    } else if (indenting && c != ' ') {
      indenting = false;
      if (tab != text.npos && c != '#' && c != '\r')
        refuse_at(text, tab, name, "a tab indents this line");
    }
  }
}

}  // namespace

std::string_view check_yaml_text(std::string_view text, const std::string& name) {
  if (text.size() > kMaxTextBytes)
    raise({.code = &kConfigSize,
           .place = {.file = name},
           .promised = "at most 1 MiB",
           .found = fmt::format("{} bytes", text.size())});
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const auto control = std::find_if(text.begin(), text.end(), is_refused_control);
  const auto control_at = static_cast<std::size_t>(control - text.begin());
  const std::size_t invalid_at = find_invalid_utf8(text);
  if (invalid_at < std::min(control_at, text.size()))
    refuse_at(text, invalid_at, name, "a byte that is not UTF-8");
  if (control != text.end())
    refuse_at(text, control_at, name,
              fmt::format("the control character \\x{:02x}", static_cast<unsigned char>(*control)));
  refuse_indenting_tabs(text, name);
  return text;
}

}  // namespace stoker::config
