#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "stoker/base/checked.h"
#include "stoker/config/errors.h"
#include "stoker/config/nearest_name.h"
#include "stoker/config/value_text.h"

namespace stoker::config {
namespace {

std::string shown(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a group of keys";
    case YamlNode::Kind::kScalar:
      break;
  }
  return node.quoted ? fmt::format("the text \"{}\"", node.text) : fmt::format("\"{}\"", node.text);
}

// "auto" for "atuo", where the setting takes that word; empty: nothing is near.
std::string nearest_word(const YamlNode& node, const ValueRule& rule) {
  const std::vector<std::string> words(rule.words.begin(), rule.words.end());
  const auto nearest = nearest_name(node.text, words);
  return nearest ? fmt::format("did you mean {}?", *nearest) : std::string();
}

[[noreturn]] void refuse(const YamlNode& node, const ValueRule& rule, std::string_view wanted,
                         std::string cure = {}) {
  if (cure.empty()) cure = nearest_word(node, rule);
  std::string promised;
  for (const std::string_view word : rule.words) promised += fmt::format("{} or ", word);
  raise({.code = &kConfigValue,
         .place = node.place,
         .promised = fmt::format("{}{} for {}", promised, wanted, rule.key),
         .found = shown(node),
         .cure = std::move(cure)});
}

template <class Number>
Number within(Number value, const YamlNode& node, const NumberRule<Number>& rule) {
  if (value >= rule.low && value <= rule.high) return value;
  raise({.code = &kConfigRange,
         .place = node.place,
         .promised = fmt::format("{} between {} and {}", rule.key, write_json(rule.low),
                                 write_json(rule.high)),
         .found = node.text});
}

std::uint64_t within_bytes(std::uint64_t value, const YamlNode& node,
                           const NumberRule<std::uint64_t>& rule) {
  if (value >= rule.low && value <= rule.high) return value;
  raise({.code = &kConfigRange,
         .place = node.place,
         .promised =
             fmt::format("{} between {} and {}", rule.key, plain_text(write_json(Bytes{rule.low})),
                         plain_text(write_json(Bytes{rule.high}))),
         .found = node.text});
}

bool is_plain(const YamlNode& node) { return node.kind == YamlNode::Kind::kScalar && !node.quoted; }

std::string_view without_sign(std::string_view text) {
  return text.starts_with('-') ? text.substr(1) : text;
}

// Leading zeros would be octal to some readers and decimal to others.
bool has_leading_zero(std::string_view digits) {
  return digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

const YamlNode* find_entry(const YamlNode& map, std::string_view key) {
  for (const auto& [name, value] : map.entries)
    if (name.text == key) return &value;
  return nullptr;
}

}  // namespace

bool read_bool(const YamlNode& node, const ValueRule& rule) {
  if (is_plain(node) && node.text == "true") return true;
  if (is_plain(node) && node.text == "false") return false;
  refuse(node, rule, "true or false");
}

std::int64_t read_int(const YamlNode& node, const NumberRule<std::int64_t>& rule) {
  constexpr std::string_view kWanted = "a whole number in plain digits";
  const std::string_view digits = without_sign(node.text);
  if (!is_plain(node) || !all_digits(digits) || has_leading_zero(digits))
    refuse(node, rule, kWanted);
  std::int64_t value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [stop, failure] = std::from_chars(node.text.data(), end, value);
  if (failure == std::errc::result_out_of_range)
    value = node.text.starts_with('-') ? INT64_MIN : INT64_MAX;
  return within(value, node, rule);
}

double read_number(const YamlNode& node, const NumberRule<double>& rule) {
  constexpr std::string_view kWanted = "a number such as 0.5, 22050 or 1e-4";
  const std::string_view digits = without_sign(node.text);
  const bool shape = !digits.empty() &&
                     digits.find_first_not_of("0123456789.eE+-") == digits.npos &&
                     digits[0] >= '0' && digits[0] <= '9' && !has_leading_zero(digits);
  if (!is_plain(node) || !shape) refuse(node, rule, kWanted);
  double value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [stop, failure] = std::from_chars(node.text.data(), end, value);
  if (failure == std::errc::result_out_of_range)
    refuse(node, rule, "a number that a 64-bit float can hold");
  if (failure != std::errc() || stop != end) refuse(node, rule, kWanted);
  return within(value, node, rule);
}

Bytes read_bytes(const YamlNode& node, const NumberRule<std::uint64_t>& rule) {
  constexpr std::string_view kWanted = "a size such as 8GiB, 512MiB, 64KiB or 4096";
  constexpr std::array<std::pair<std::string_view, unsigned>, 5> kUnits{
      {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"B", 0}}};
  std::string_view digits = node.text;
  unsigned shift = rule.unit == "MiB" ? 20 : 0;
  for (const auto& [suffix, bits] : kUnits) {
    if (!digits.ends_with(suffix)) continue;
    digits.remove_suffix(suffix.size());
    shift = bits;
    break;
  }
  if (digits.ends_with(' ')) digits.remove_suffix(1);
  if (node.kind != YamlNode::Kind::kScalar || !all_digits(digits) || has_leading_zero(digits))
    refuse(node, rule, kWanted);
  std::uint64_t count = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  const auto scaled = checked_multiply(count, std::uint64_t{1} << shift);
  const bool fits = parsed.ec == std::errc() && scaled.has_value();
  return {within_bytes(fits ? *scaled : UINT64_MAX, node, rule)};
}

std::size_t read_choice(const YamlNode& node, const ValueRule& rule) {
  for (std::size_t i = 0; i < rule.choices.size(); ++i)
    if (node.kind == YamlNode::Kind::kScalar && node.text == rule.choices[i]) return i;
  const std::vector<std::string> names(rule.choices.begin(), rule.choices.end());
  const auto nearest = nearest_name(node.text, names);
  refuse(node, rule, fmt::format("one of {}", fmt::join(names, ", ")),
         nearest ? fmt::format("did you mean {}?", *nearest) : std::string());
}

std::string read_text(const YamlNode& node, const ValueRule& rule) {
  if (node.is_null()) return {};
  if (node.kind != YamlNode::Kind::kScalar) refuse(node, rule, "a text");
  if (!rule.choices.empty()) return std::string(rule.choices[read_choice(node, rule)]);
  return node.text;
}

Interval read_interval(const YamlNode& node, const NumberRule<double>& rule) {
  constexpr std::string_view kWanted = "a pair [low, high]";
  if (node.kind != YamlNode::Kind::kList || node.items.size() != 2) refuse(node, rule, kWanted);
  const Interval value{read_number(node.items[0], rule), read_number(node.items[1], rule)};
  if (value[0] > value[1])
    raise({.code = &kConfigRange,
           .place = node.place,
           .promised = fmt::format("[low, high] for {}", rule.key),
           .found = fmt::format("[{}, {}]", node.items[0].text, node.items[1].text)});
  return value;
}

std::vector<std::string> read_list(const YamlNode& node, const ValueRule& rule) {
  std::vector<std::string> list;
  if (node.is_null()) return list;
  if (node.kind == YamlNode::Kind::kScalar) return {node.text};
  if (node.kind != YamlNode::Kind::kList) refuse(node, rule, "a list of texts");
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::kScalar) refuse(item, rule, "a list of texts");
    list.push_back(item.text);
  }
  return list;
}

StringMap read_map(const YamlNode& node, const ValueRule& rule) {
  constexpr std::string_view kWanted = "a group such as {audio: path} or audio=path,text=words";
  StringMap map;
  if (node.kind == YamlNode::Kind::kScalar) {
    std::string_view rest = node.text;
    while (!rest.empty()) {
      const std::string_view pair = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      const std::size_t equals = pair.find('=');
      if (equals == pair.npos || equals == 0) refuse(node, rule, kWanted);
      map[std::string(pair.substr(0, equals))] = pair.substr(equals + 1);
    }
    return map;
  }
  if (node.kind == YamlNode::Kind::kList) refuse(node, rule, kWanted);
  for (const auto& [key, value] : node.entries) {
    if (value.kind != YamlNode::Kind::kScalar) refuse(value, rule, kWanted);
    map[key.text] = value.text;
  }
  return map;
}

std::vector<MixedSource> read_sources(const YamlNode& node, const ValueRule& rule) {
  constexpr std::string_view kWanted = "a list of {data, weight, name, language}";
  std::vector<MixedSource> sources;
  if (node.is_null()) return sources;
  if (node.kind != YamlNode::Kind::kList) refuse(node, rule, kWanted);
  static const std::vector<std::string> kKeys = {"data", "weight", "name", "language"};
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::kMap) refuse(item, rule, kWanted);
    for (const auto& [key, unused] : item.entries)
      if (std::find(kKeys.begin(), kKeys.end(), key.text) == kKeys.end())
        refuse(key, rule, kWanted);
    const ValueRule part{rule.key, {}, {}};
    MixedSource source;
    const YamlNode* data = find_entry(item, "data");
    if (data == nullptr) refuse(item, rule, kWanted, "each source needs `data`");
    source.data = read_text(*data, part);
    if (const YamlNode* weight = find_entry(item, "weight"))
      source.weight = read_number(*weight, {{rule.key + ".weight", {}, {}}, 1e-6, 1e6});
    if (const YamlNode* name = find_entry(item, "name")) source.name = read_text(*name, part);
    if (const YamlNode* language = find_entry(item, "language"))
      source.language = read_text(*language, part);
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace stoker::config
