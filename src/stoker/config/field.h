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

// What changes when a setting changes. `order` covers which utterances share a batch and what
// is drawn for them; seed, rank and row limits are recorded apart and affect nothing here.
enum class Affects { kNothing, kFeatures, kText, kOrder };

// Whether anything reads a setting, and where not, which commands will.
enum class NotYet {
  kRead,       // it has its effect
  kFeed,       // commands that run a feed, and training
  kFeedAlone,  // commands that run a feed without a model
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

// What a declaration says in words, whatever type its value has. Lists of names inside are
// separated by spaces.
struct FieldText {
  std::string_view name;
  std::string_view sentence;
  std::string_view unit{};
  std::string_view flags{};         // empty: derived from the name, "batch_size" -> --batch-size
  std::string_view off_flags{};     // switches: flags that turn it off
  std::string_view myxtts_names{};  // "data.dataset_path": the name that myxtts has for it
  std::string_view choices{};       // for text: the words it may be
  Affects affects = Affects::kNothing;
  NotYet not_yet = NotYet::kRead;
  std::string_view not_yet_value{};  // where only this value has no effect: "auto"
};

template <class Struct, class T>
struct Field {
  using Value = T;
  using Range = Bounds<typename NumberIn<T>::Type>;

  FieldText text;
  T Struct::*member;
  Range range{};

  constexpr Field unit(std::string_view words) const { return with(&FieldText::unit, words); }
  constexpr Field flags(std::string_view words) const { return with(&FieldText::flags, words); }
  constexpr Field off_flags(std::string_view words) const {
    return with(&FieldText::off_flags, words);
  }
  constexpr Field myxtts(std::string_view words) const {
    return with(&FieldText::myxtts_names, words);
  }
  constexpr Field choices(std::string_view words) const { return with(&FieldText::choices, words); }
  constexpr Field affects(Affects what) const { return with(&FieldText::affects, what); }
  // tools/check_settings.py finds who reads a setting and compares.
  constexpr Field not_yet(NotYet who, std::string_view value = {}) const {
    return with(&FieldText::not_yet, who).with(&FieldText::not_yet_value, value);
  }

 private:
  template <class Part>
  constexpr Field with(Part FieldText::*part, Part value) const {
    Field changed = *this;
    changed.text.*part = value;
    return changed;
  }
};

template <class Struct, class T>
constexpr auto field(std::string_view name, T Struct::*member, std::string_view sentence) {
  return Field<Struct, T>{{.name = name, .sentence = sentence}, member};
}

template <class Struct, class T>
constexpr auto field(std::string_view name, T Struct::*member,
                     typename Field<Struct, T>::Range range, std::string_view sentence) {
  return Field<Struct, T>{{.name = name, .sentence = sentence}, member, range};
}

}  // namespace stoker::config
