// A value or the Error that explains its absence, for failures that a caller is expected to handle.
#pragma once

#include <utility>
#include <variant>

#include "stoker/base/error.h"
#include "stoker/base/invariant.h"

namespace stoker {

// Reading the side that is not there is a bug and aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& value() & { return *checked_value(); }
  const T& value() const& { return *checked_value(); }
  T&& value() && { return std::move(*checked_value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return checked_value(); }
  const T* operator->() const { return checked_value(); }

  const Error& error() const& { return *checked_error(); }
  Error&& error() && { return std::move(*checked_error()); }

  // For callers to whom the failure ends the work: the value, or the matching exception.
  T take_or_raise() && {
    if (!ok()) raise(std::move(*checked_error()));
    return std::move(*checked_value());
  }

 private:
  T* checked_value() {
    check_invariant(ok(), "value() of a failed Result");
    return std::get_if<0>(&state_);
  }
  const T* checked_value() const {
    check_invariant(ok(), "value() of a failed Result");
    return std::get_if<0>(&state_);
  }
  Error* checked_error() {
    check_invariant(!ok(), "error() of a Result that holds a value");
    return std::get_if<1>(&state_);
  }
  const Error* checked_error() const {
    check_invariant(!ok(), "error() of a Result that holds a value");
    return std::get_if<1>(&state_);
  }

  std::variant<T, Error> state_;
};

// Success without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  const Error& error() const& {
    check_invariant(!ok(), "error() of a successful Result");
    return *error_;
  }
  void take_or_raise() && {
    if (error_) raise(std::move(*error_));
  }

 private:
  std::optional<Error> error_;
};

}  // namespace stoker
