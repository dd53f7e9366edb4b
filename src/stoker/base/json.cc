#include "stoker/base/json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace stoker {

using nlohmann::ordered_json;

// To and from the library's value, which writes and reads the text.
struct JsonConversion {
  static ordered_json to_library(const Json& json) {
    return std::visit([](const auto& value) { return convert(value); }, json.value_);
  }

  static Json from_library(const ordered_json& from) {
    switch (from.type()) {
      case ordered_json::value_t::boolean:
        return from.get<bool>();
      case ordered_json::value_t::number_integer:
        return from.get<std::int64_t>();
      case ordered_json::value_t::number_unsigned:
        return from.get<std::uint64_t>();
      case ordered_json::value_t::number_float:
        return from.get<double>();
      case ordered_json::value_t::string:
        return from.get_ref<const std::string&>();
      case ordered_json::value_t::array: {
        Json out = Json::array();
        for (const ordered_json& value : from) out.push_back(from_library(value));
        return out;
      }
      case ordered_json::value_t::object: {
        Json out = Json::object();
        for (const auto& [key, value] : from.items()) out[key] = from_library(value);
        return out;
      }
      default:
        return nullptr;
    }
  }

 private:
  template <class T>
  static ordered_json convert(const T& value) {
    return ordered_json(value);
  }
  static ordered_json convert(const Json::Array& values) {
    ordered_json out = ordered_json::array();
    for (const Json& value : values) out.push_back(to_library(value));
    return out;
  }
  static ordered_json convert(const Json::Object& members) {
    ordered_json out = ordered_json::object();
    for (std::size_t i = 0; i < members.keys.size(); ++i)
      out[members.keys[i]] = to_library(members.values[i]);
    return out;
  }
};

namespace {

template <class T, class Variant>
auto& part_of(Variant& value, const char* kind) {
  if (auto* const part = std::get_if<T>(&value)) return *part;
  throw std::out_of_range(std::string("JSON: not ") + kind);
}

}  // namespace

Json::Json() noexcept : value_(nullptr) {}
Json::Json(std::nullptr_t) noexcept : value_(nullptr) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::initializer_list<Member> members) : value_(Object()) {
  for (const Member& member : members) (*this)[member.key] = member.value;
}

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::object() {
  Json out;
  out.value_ = Object();
  return out;
}

Json Json::array(std::initializer_list<Json> values) {
  Json out;
  out.value_ = Array(values);
  return out;
}

std::optional<Json> Json::parse(std::string_view text) {
  const ordered_json parsed = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return std::nullopt;
  return JsonConversion::from_library(parsed);
}

Json& Json::operator[](std::string_view key) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Object();
  Object& members = part_of<Object>(value_, "an object");
  for (std::size_t i = 0; i < members.keys.size(); ++i)
    if (members.keys[i] == key) return members.values[i];
  members.keys.emplace_back(key);
  return members.values.emplace_back();
}

void Json::push_back(Json value) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Array();
  part_of<Array>(value_, "an array").push_back(std::move(value));
}

void Json::update(const Json& other) {
  const Object& members = part_of<Object>(other.value_, "an object");
  for (std::size_t i = 0; i < members.keys.size(); ++i)
    (*this)[members.keys[i]] = members.values[i];
}

const Json* Json::find(std::string_view key) const {
  if (const Object* members = std::get_if<Object>(&value_))
    for (std::size_t i = 0; i < members->keys.size(); ++i)
      if (members->keys[i] == key) return &members->values[i];
  return nullptr;
}

bool Json::contains(std::string_view key) const { return find(key) != nullptr; }

const Json& Json::at(std::string_view key) const {
  if (const Json* found = find(key)) return *found;
  throw std::out_of_range("JSON: no member " + std::string(key));
}

const Json::Array& Json::elements() const { return part_of<Array>(value_, "an array"); }

const std::string& Json::text() const { return part_of<std::string>(value_, "a text"); }

double Json::number() const {
  return std::visit(
      [](const auto& value) -> double {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
          return static_cast<double>(value);
        } else {
          throw std::out_of_range("JSON: not a number");
        }
      },
      value_);
}

std::string Json::dump() const {
  return JsonConversion::to_library(*this).dump(-1, ' ', false,
                                                ordered_json::error_handler_t::replace);
}

}  // namespace stoker
