// A JSON value that is cheap to compile against: reports are built in many files, the templates of
// the JSON library that writes and reads them are instantiated in json.cc alone.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stoker {

// Null, bool, number, text, array or object; an object keeps the order in which its members came.
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;

  // Conversions are implicit so that a report reads like the JSON that it becomes:
  // Json{{"rows", 3}, {"name", "a"}}.
  Json() noexcept;
  Json(std::nullptr_t) noexcept;
  Json(std::same_as<bool> auto value) : value_(value) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Json(T value) {
    if constexpr (std::unsigned_integral<T>) {
      value_ = std::uint64_t{value};
    } else {
      value_ = std::int64_t{value};
    }
  }
  Json(std::floating_point auto value) : value_(double{value}) {}
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  Json(std::initializer_list<Member> members);
  template <class T>
  Json(const std::vector<T>& values) : value_(Array(values.begin(), values.end())) {}
  template <class T, class Less>
  Json(const std::map<std::string, T, Less>& members) : Json(object()) {
    for (const auto& [key, value] : members) (*this)[key] = value;
  }
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json object();
  static Json array(std::initializer_list<Json> values = {});
  // Nothing where the text is not JSON.
  static std::optional<Json> parse(std::string_view text);

  // The member of that name, added where there is none; null becomes an object first.
  Json& operator[](std::string_view key);
  // Null becomes an array first.
  void push_back(Json value);
  // Takes over the members of `other`, in the place of those of the same name.
  void update(const Json& other);

  bool contains(std::string_view key) const;
  // These throw std::out_of_range where the value is of another kind or has no such member.
  const Json& at(std::string_view key) const;
  const Array& elements() const;
  const std::string& text() const;
  double number() const;

  // One line; bytes that are not UTF-8 become U+FFFD, numbers without a value null.
  std::string dump() const;

 private:
  friend struct JsonConversion;

  // Keys beside values: a vector of members would need Member whole before Json is.
  struct Object {
    std::vector<std::string> keys;
    Array values;
  };

  const Json* find(std::string_view key) const;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object>
      value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

}  // namespace stoker
