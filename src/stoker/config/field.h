// One declaration per setting: YAML, environment, command line, reference page, range checks and
// digests are all read from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stoker/config/value_types.h"

namespace stoker::config {

// What changes when a setting changes. `order` covers which rows stand together in a batch and what
// is drawn for them; seed, rank and row limits are recorded apart and affect nothing here.
enum class Affects { kNothing, kFeatures, kText, kOrder };

// Whether anything reads a setting, and where not, which commands will.
enum class NotYet {
  kRead,   // it has its effect
  kFeed,   // commands that run a feed, and training
  kTrain,  // training alone
};

// The number that a field's range bounds: its own, or that of its parts.
template <class T>
struct NumberIn {
  using Type = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
};
template <>
struct NumberIn<Bytes> {
  using Type = std::uint64_t;
};
template <class T>
struct NumberIn<Auto<T>> : NumberIn<T> {};
template <class T>
struct NumberIn<Maybe<T>> : NumberIn<T> {};
template <class T>
struct NumberIn<std::vector<T>> : NumberIn<T> {};
template <>
struct NumberIn<Interval> : NumberIn<double> {};

template <class Number>
struct Bounds {
  Number low = std::numeric_limits<Number>::lowest();
  Number high = std::numeric_limits<Number>::max();
};

// Lists of names inside are separated by spaces.
template <class Struct, class T>
struct Field {
  using Value = T;
  using Range = Bounds<typename NumberIn<T>::Type>;

  std::string_view name;
  T Struct::*member;
  Range range{};
  std::string_view sentence{};
  std::string_view unit_name{};
  std::string_view flag_names{};      // empty: derived from the name, "batch_size" -> --batch-size
  std::string_view off_flag_names{};  // switches: flags that turn it off
  std::string_view old_names{};       // "data.dataset_path": the original's name, same meaning
  std::string_view choice_names{};    // for text: the words it may be
  Affects affected = Affects::kNothing;
  NotYet unread = NotYet::kRead;
  std::string_view unread_value{};  // where only this value has no effect: "auto"

  constexpr Field unit(std::string_view text) const { return with(&Field::unit_name, text); }
  constexpr Field flags(std::string_view text) const { return with(&Field::flag_names, text); }
  constexpr Field off_flags(std::string_view text) const {
    return with(&Field::off_flag_names, text);
  }
  constexpr Field old(std::string_view text) const { return with(&Field::old_names, text); }
  constexpr Field choices(std::string_view text) const { return with(&Field::choice_names, text); }
  constexpr Field affects(Affects what) const {
    Field changed = *this;
    changed.affected = what;
    return changed;
  }
  // tools/check_settings.py finds who reads a setting and compares.
  constexpr Field not_yet(NotYet who, std::string_view value = {}) const {
    Field changed = with(&Field::unread_value, value);
    changed.unread = who;
    return changed;
  }

 private:
  constexpr Field with(std::string_view Field::*part, std::string_view text) const {
    Field changed = *this;
    changed.*part = text;
    return changed;
  }
};

template <class Struct, class T>
constexpr auto field(std::string_view name, T Struct::*member, std::string_view sentence) {
  return Field<Struct, T>{.name = name, .member = member, .sentence = sentence};
}

template <class Struct, class T>
constexpr auto field(std::string_view name, T Struct::*member,
                     typename Field<Struct, T>::Range range, std::string_view sentence) {
  return Field<Struct, T>{.name = name, .member = member, .range = range, .sentence = sentence};
}

}  // namespace stoker::config
