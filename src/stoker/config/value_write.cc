#include <fmt/format.h>

#include <array>
#include <charconv>

#include "stoker/base/utf8.h"
#include "stoker/config/value_text.h"

namespace stoker::config {
namespace {

// Bytes that are not UTF-8, as a path may hold, are shown as "\\xff": neither JSON nor YAML can
// carry them.
std::string escaped(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    const std::string_view bytes = text.substr(0, next.size_bytes);
    if (!next.valid)
      for (const char c : bytes) out += fmt::format("\\\\x{:02x}", static_cast<unsigned char>(c));
    else if (next.code_point == '"' || next.code_point == '\\')
      out += fmt::format("\\{}", bytes);
    else if (next.code_point < 0x20 || next.code_point == 0x7F)
      out += fmt::format("\\u{:04x}", next.code_point);
    else
      out += bytes;
    text.remove_prefix(next.size_bytes);
  }
  return out + "\"";
}

// Words that a YAML reader takes for something else than text.
bool is_reserved(std::string_view word) {
  for (const std::string_view taken : {"true", "false", "null", "yes", "no", "on", "off", "~"})
    if (word == taken) return true;
  return false;
}

bool is_plain_word(std::string_view text) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+";
  if (text.empty() || text.find_first_not_of(kSafe) != text.npos || is_reserved(text)) return false;
  return !(text[0] >= '0' && text[0] <= '9') && text[0] != '-' && text[0] != '+' && text[0] != '.';
}

}  // namespace

std::string write_json(bool value) { return value ? "true" : "false"; }

std::string write_json(std::int64_t value) { return fmt::format("{}", value); }

std::string write_json(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  return text;
}

std::string write_json(Bytes value) {
  constexpr std::array<std::pair<std::string_view, unsigned>, 4> kUnits{
      {{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}}};
  for (const auto& [suffix, shift] : kUnits) {
    const std::uint64_t unit = std::uint64_t{1} << shift;
    if (value.count >= unit && value.count % unit == 0)
      return fmt::format("\"{}{}\"", value.count / unit, suffix);
  }
  return fmt::format("\"{}B\"", value.count);
}

std::string write_json(std::string_view value) { return escaped(value); }

std::string write_json(const Interval& value) {
  return fmt::format("[{}, {}]", write_json(value[0]), write_json(value[1]));
}

std::string write_json(const std::vector<std::string>& value) {
  std::string out;
  for (const std::string& item : value) out += (out.empty() ? "" : ", ") + escaped(item);
  return "[" + out + "]";
}

std::string write_json(const StringMap& value) {
  std::string out;
  for (const auto& [key, item] : value)
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", escaped(key), escaped(item));
  return "{" + out + "}";
}

std::string write_json(const std::vector<MixedSource>& value) {
  std::string out;
  for (const MixedSource& source : value) {
    out += fmt::format(R"({}{{"data": {}, "weight": {})", out.empty() ? "" : ", ",
                       escaped(source.data), write_json(source.weight));
    if (!source.name.empty()) out += ", \"name\": " + escaped(source.name);
    if (!source.language.empty()) out += ", \"language\": " + escaped(source.language);
    out += "}";
  }
  return "[" + out + "]";
}

std::string plain_text(const std::string& json) {
  if (json.size() < 2 || json.front() != '"') return json;
  const std::string_view inside = std::string_view(json).substr(1, json.size() - 2);
  const std::size_t unit_at = inside.find_first_not_of("0123456789");
  const bool is_size = unit_at != 0 && unit_at != inside.npos && inside.ends_with('B') &&
                       inside.size() - unit_at <= 3;
  return is_plain_word(inside) || is_size ? std::string(inside) : json;
}

}  // namespace stoker::config
