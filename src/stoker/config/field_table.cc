#include "stoker/config/field_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <variant>

#include "stoker/base/invariant.h"
#include "stoker/config/value_text.h"

namespace stoker::config {
namespace {

// What a value of type T is called, read and written as. One specialisation per kind.
template <class T>
struct TypedValue;

template <>
struct TypedValue<bool> {
  static std::string kind() { return "true or false"; }
  template <class Rule>
  static bool read(const YamlNode& node, const Rule& rule) {
    return read_bool(node, rule);
  }
};

template <>
struct TypedValue<std::int64_t> {
  static std::string kind() { return "whole number"; }
  static std::int64_t read(const YamlNode& node, const NumberRule<std::int64_t>& rule) {
    return read_int(node, rule);
  }
};

template <>
struct TypedValue<double> {
  static std::string kind() { return "number"; }
  static double read(const YamlNode& node, const NumberRule<double>& rule) {
    return read_number(node, rule);
  }
};

template <>
struct TypedValue<Bytes> {
  static std::string kind() { return "size"; }
  static Bytes read(const YamlNode& node, const NumberRule<std::uint64_t>& rule) {
    return read_bytes(node, rule);
  }
};

template <>
struct TypedValue<std::string> {
  static std::string kind() { return "text"; }
  static std::string read(const YamlNode& node, const ValueRule& rule) {
    return read_text(node, rule);
  }
};

template <>
struct TypedValue<Interval> {
  static std::string kind() { return "pair [low, high]"; }
  static Interval read(const YamlNode& node, const NumberRule<double>& rule) {
    return read_interval(node, rule);
  }
};

template <>
struct TypedValue<std::vector<std::string>> {
  static std::string kind() { return "list of texts"; }
  static std::vector<std::string> read(const YamlNode& node, const ValueRule& rule) {
    return read_list(node, rule);
  }
};

template <>
struct TypedValue<StringMap> {
  static std::string kind() { return "group of name: value"; }
  static StringMap read(const YamlNode& node, const ValueRule& rule) {
    return read_map(node, rule);
  }
};

template <>
struct TypedValue<std::vector<MixedSource>> {
  static std::string kind() { return "list of sources"; }
  static std::vector<MixedSource> read(const YamlNode& node, const ValueRule& rule) {
    return read_sources(node, rule);
  }
};

template <class E>
  requires std::is_enum_v<E>
struct TypedValue<E> {
  static std::string kind() { return "choice"; }
  static E read(const YamlNode& node, const ValueRule& rule) {
    return static_cast<E>(read_choice(node, rule));
  }
};

template <class T>
struct TypedValue<Auto<T>> {
  static std::string kind() { return "auto or " + TypedValue<T>::kind(); }
  template <class Rule>
  static Auto<T> read(const YamlNode& node, const Rule& rule) {
    if (node.kind == YamlNode::Kind::kScalar && node.text == "auto") return {};
    Rule own = rule;
    own.words = {"auto"};
    return TypedValue<T>::read(node, own);
  }
};

template <class T>
struct TypedValue<Maybe<T>> {
  static std::string kind() { return "none or " + TypedValue<T>::kind(); }
  template <class Rule>
  static Maybe<T> read(const YamlNode& node, const Rule& rule) {
    if (node.is_null() || (node.kind == YamlNode::Kind::kScalar && node.text == "none")) return {};
    Rule own = rule;
    own.words = {"none"};
    return TypedValue<T>::read(node, own);
  }
};

template <class T>
std::string typed_json(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return write_json(names_of(T{})[static_cast<std::size_t>(value)]);
  else
    return write_json(value);
}
template <class T>
std::string typed_json(const Auto<T>& value) {
  return value ? typed_json(*value) : "\"auto\"";
}
template <class T>
std::string typed_json(const Maybe<T>& value) {
  return value ? typed_json(*value) : "null";
}

// The enumeration inside T, whose names are the choices; void when there is none.
template <class T>
struct ChoiceIn {
  using Type = std::conditional_t<std::is_enum_v<T>, T, void>;
};
template <class T>
struct ChoiceIn<Auto<T>> : ChoiceIn<T> {};
template <class T>
struct ChoiceIn<Maybe<T>> : ChoiceIn<T> {};

template <class Value>
constexpr bool kHasRange = std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, double> ||
                           std::is_same_v<Value, Bytes> || std::is_same_v<Value, Interval>;
template <class T>
constexpr bool kHasRange<Auto<T>> = kHasRange<T>;
template <class T>
constexpr bool kHasRange<Maybe<T>> = kHasRange<T>;

// Whether an absent value means something: no limit, an empty text, list or group.
template <class Value>
constexpr bool kTakesNothing = !kHasRange<Value> && !std::is_same_v<Value, bool> &&
                               std::is_void_v<typename ChoiceIn<Value>::Type>;
template <class T>
constexpr bool kTakesNothing<Auto<T>> = kTakesNothing<T>;
template <class T>
constexpr bool kTakesNothing<Maybe<T>> = true;

// What a type's reader takes: a ValueRule, or a NumberRule where the value has a range.
using AnyRule = std::variant<ValueRule, NumberRule<std::int64_t>, NumberRule<double>,
                             NumberRule<std::uint64_t>>;

// All that depends on a value's type, so that the code below is compiled once and not for each
// declaration.
struct ValueType {
  std::string kind;
  ChoiceNames choices;
  bool is_switch;
  bool takes_nothing;
  void (*read)(void* value, const YamlNode& node, const AnyRule& rule);
  std::string (*json)(const void* value);
};

template <class T>
using RuleOf = std::conditional_t<kHasRange<T>, NumberRule<typename NumberIn<T>::Type>, ValueRule>;

template <class T>
ValueType value_type() {
  ChoiceNames choices;
  if constexpr (!std::is_void_v<typename ChoiceIn<T>::Type>)
    choices = names_of(typename ChoiceIn<T>::Type{});
  return {.kind = TypedValue<T>::kind(),
          .choices = choices,
          .is_switch = std::is_same_v<T, bool> || std::is_same_v<T, Auto<bool>>,
          .takes_nothing = kTakesNothing<T>,
          .read =
              [](void* value, const YamlNode& node, const AnyRule& rule) {
                *static_cast<T*>(value) = TypedValue<T>::read(node, std::get<RuleOf<T>>(rule));
              },
          .json = [](const void* value) { return typed_json(*static_cast<const T*>(value)); }};
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) found.push_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return found;
}

std::vector<std::string> word_list(std::string_view text) {
  const std::vector<std::string_view> views = words(text);
  return {views.begin(), views.end()};
}

std::string dashed(std::string_view prefix, std::string_view name) {
  std::string flag = std::string(prefix) + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

// Overloads by what a range bounds; values without one have a plain rule.
AnyRule rule_with(ValueRule plain, std::monostate) { return plain; }
template <class Number>
AnyRule rule_with(ValueRule plain, const Bounds<Number>& range) {
  return NumberRule<Number>{std::move(plain), range.low, range.high};
}

std::string range_text(const ValueRule&) { return {}; }
std::string range_text(const NumberRule<std::uint64_t>& rule) {
  return fmt::format("{} … {}", plain_text(write_json(Bytes{rule.low})),
                     plain_text(write_json(Bytes{rule.high})));
}
template <class Number>
std::string range_text(const NumberRule<Number>& rule) {
  if (rule.high == std::numeric_limits<Number>::max())
    return fmt::format("{} …", write_json(rule.low));
  return fmt::format("{} … {}", write_json(rule.low), write_json(rule.high));
}

// Where a setting is: the heading it has in files and pages, and its bytes within Settings.
struct Location {
  std::string_view section;
  std::string_view title;
  std::size_t offset_bytes;
};

void describe(FieldInfo& info, const FieldText& text, const ValueType& type) {
  info.name = text.name;
  info.path = info.section.empty() ? info.name : info.section + "." + info.name;
  info.kind = type.kind;
  info.unit = text.unit;
  info.sentence = text.sentence;
  info.flags = text.flags.empty() ? std::vector{dashed("--", info.name)} : word_list(text.flags);
  info.is_switch = type.is_switch;
  info.off_flags = word_list(text.off_flags);
  if (info.is_switch) info.off_flags.push_back(dashed("--no-", info.name));
  info.myxtts_paths = word_list(text.myxtts_names);
  info.choices = type.choices.empty()
                     ? word_list(text.choices)
                     : std::vector<std::string>(type.choices.begin(), type.choices.end());
  info.affects = text.affects;
  info.not_yet = text.not_yet;
  info.not_yet_value = text.not_yet_value;
}

template <class Range>
FieldInfo make_info(const Location& at, const FieldText& text, const ValueType& type,
                    const Range& range) {
  FieldInfo info;
  info.section = at.section;
  info.title = at.title;
  describe(info, text, type);
  std::vector<std::string_view> choices(type.choices.begin(), type.choices.end());
  if (choices.empty()) choices = words(text.choices);
  AnyRule rule = rule_with({info.path, info.unit, std::move(choices)}, range);
  info.range = std::visit([](const auto& known) { return range_text(known); }, rule);
  info.read = [offset = at.offset_bytes, read = type.read, rule = std::move(rule)](
                  Settings& settings, const YamlNode& node) {
    read(reinterpret_cast<std::byte*>(&settings) + offset, node, rule);
  };
  info.json = [offset = at.offset_bytes, json = type.json](const Settings& settings) {
    return json(reinterpret_cast<const std::byte*>(&settings) + offset);
  };
  // A text that has a default cannot be emptied by leaving its value out.
  info.takes_nothing =
      type.takes_nothing && (info.kind != "text" || info.json(Settings{}) == "\"\"");
  return info;
}

template <class Struct, class F>
FieldInfo make_info(Struct Settings::*part, const F& declared) {
  using Value = typename F::Value;
  static const Settings kSettings;
  const void* member = &((kSettings.*part).*(declared.member));
  const Location at{Struct::kSection, Struct::kTitle,
                    static_cast<std::size_t>(static_cast<const std::byte*>(member) -
                                             reinterpret_cast<const std::byte*>(&kSettings))};
  FieldText text = declared.text;
  if constexpr (requires { Struct::kNotYet; }) text.not_yet = Struct::kNotYet;
  if constexpr (kHasRange<Value>)
    return make_info(at, text, value_type<Value>(), declared.range);
  else
    return make_info(at, text, value_type<Value>(), std::monostate{});
}

template <class Struct>
void add_struct(std::vector<FieldInfo>& table, Struct Settings::*part) {
  static constexpr auto kFields = Struct::fields();
  std::apply([&](const auto&... declared) { (table.push_back(make_info(part, declared)), ...); },
             kFields);
}

std::vector<FieldInfo> make_table() {
  std::vector<FieldInfo> table;
  add_struct(table, &Settings::run);
  add_struct(table, &Settings::data);
  add_struct(table, &Settings::rows);
  add_struct(table, &Settings::batch);
  add_struct(table, &Settings::loader);
  add_struct(table, &Settings::gpu);
  add_struct(table, &Settings::features);
  add_struct(table, &Settings::augment);
  add_struct(table, &Settings::text);
  add_struct(table, &Settings::cache);
  add_struct(table, &Settings::training);
  add_struct(table, &Settings::optimizer);
  add_struct(table, &Settings::observe);
  return table;
}

}  // namespace

std::span<const FieldInfo> all_fields() {
  static const std::vector<FieldInfo> table = make_table();
  return table;
}

const FieldInfo* find_field(std::string_view path) {
  for (const FieldInfo& info : all_fields())
    if (info.path == path) return &info;
  return nullptr;
}

std::size_t index_of(const FieldInfo& field) {
  const auto table = all_fields();
  const auto index = static_cast<std::size_t>(&field - table.data());
  check_invariant(index < table.size(), "a FieldInfo outside the table");
  return index;
}

std::string_view affects_name(Affects affects) {
  switch (affects) {
    case Affects::kFeatures:
      return "features";
    case Affects::kText:
      return "text";
    case Affects::kOrder:
      return "order";
    case Affects::kNothing:
      break;
  }
  return "nothing";
}

}  // namespace stoker::config
