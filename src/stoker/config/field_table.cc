#include "stoker/config/field_table.h"

#include <fmt/format.h>

#include <type_traits>

#include "stoker/base/invariant.h"
#include "stoker/config/typed_value.h"

namespace stoker::config {
namespace {

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

template <class F>
std::vector<std::string_view> choices_of(const F& declared) {
  using Choice = typename ChoiceIn<typename F::Value>::Type;
  if constexpr (std::is_void_v<Choice>) {
    return words(declared.choice_names);
  } else {
    const ChoiceNames names = names_of(Choice{});
    return {names.begin(), names.end()};
  }
}

template <class Value>
constexpr bool kHasRange = std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, double> ||
                           std::is_same_v<Value, Bytes> || std::is_same_v<Value, Interval>;
template <class T>
constexpr bool kHasRange<Auto<T>> = kHasRange<T>;
template <class T>
constexpr bool kHasRange<Maybe<T>> = kHasRange<T>;

// What the type's reader takes: a ValueRule, or a NumberRule where the value has a range.
template <class F>
auto rule_of(const F& declared, const std::string& path) {
  ValueRule plain{path, std::string(declared.unit_name), choices_of(declared)};
  if constexpr (kHasRange<typename F::Value>) {
    using Number = decltype(declared.range.low);
    return NumberRule<Number>{plain, declared.range.low, declared.range.high};
  } else {
    return plain;
  }
}

// Whether an absent value means something: no limit, an empty text, list or group.
template <class Value>
constexpr bool kTakesNothing = !kHasRange<Value> && !std::is_same_v<Value, bool> &&
                               std::is_void_v<typename ChoiceIn<Value>::Type>;
template <class T>
constexpr bool kTakesNothing<Maybe<T>> = true;

template <class F>
std::string range_text(const F& declared) {
  using Number = decltype(declared.range.low);
  if constexpr (!kHasRange<typename F::Value>) {
    return {};
  } else if constexpr (std::is_same_v<Number, std::uint64_t>) {
    return fmt::format("{} … {}", plain_text(write_json(Bytes{declared.range.low})),
                       plain_text(write_json(Bytes{declared.range.high})));
  } else if (declared.range.high == std::numeric_limits<Number>::max()) {
    return fmt::format("{} …", write_json(declared.range.low));
  } else {
    return fmt::format("{} … {}", write_json(declared.range.low), write_json(declared.range.high));
  }
}

template <class Struct, class F>
FieldInfo make_info(Struct Settings::*part, const F& declared) {
  FieldInfo info;
  info.section = Struct::kSection;
  info.title = Struct::kTitle;
  info.name = declared.name;
  info.path = info.section.empty() ? info.name : info.section + "." + info.name;
  info.kind = TypedValue<typename F::Value>::kind();
  info.range = range_text(declared);
  info.unit = declared.unit_name;
  info.sentence = declared.sentence;
  info.flags = declared.flag_names.empty() ? std::vector{dashed("--", info.name)}
                                           : word_list(declared.flag_names);
  info.is_switch = std::is_same_v<typename F::Value, bool>;
  info.off_flags = word_list(declared.off_flag_names);
  if (info.is_switch) info.off_flags.push_back(dashed("--no-", info.name));
  info.old_paths = word_list(declared.old_names);
  for (const std::string_view choice : choices_of(declared)) info.choices.emplace_back(choice);
  info.affects = declared.affected;
  info.not_yet = declared.unread;
  info.not_yet_value = declared.unread_value;
  if constexpr (requires { Struct::kNotYet; }) info.not_yet = Struct::kNotYet;
  info.read = [part, member = declared.member, rule = rule_of(declared, info.path)](
                  Settings& settings, const YamlNode& node) {
    (settings.*part).*member = TypedValue<typename F::Value>::read(node, rule);
  };
  info.json = [part, member = declared.member](const Settings& settings) {
    return typed_json((settings.*part).*member);
  };
  // A text that has a default cannot be emptied by leaving its value out.
  info.takes_nothing =
      kTakesNothing<typename F::Value> && (info.kind != "text" || info.json(Settings{}) == "\"\"");
  return info;
}

template <class Struct>
void add_struct(std::vector<FieldInfo>& table, Struct Settings::*part) {
  std::apply([&](const auto&... declared) { (table.push_back(make_info(part, declared)), ...); },
             Struct::fields());
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
