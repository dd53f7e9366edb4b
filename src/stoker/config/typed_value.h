// Joins a declared field's type to the reader and writer of its values.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "stoker/config/field.h"
#include "stoker/config/value_text.h"

namespace stoker::config {

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
    return TypedValue<T>::read(node, rule);
  }
};

template <class T>
struct TypedValue<Maybe<T>> {
  static std::string kind() { return "none or " + TypedValue<T>::kind(); }
  template <class Rule>
  static Maybe<T> read(const YamlNode& node, const Rule& rule) {
    if (node.is_null() || (node.kind == YamlNode::Kind::kScalar && node.text == "none")) return {};
    return TypedValue<T>::read(node, rule);
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

}  // namespace stoker::config
