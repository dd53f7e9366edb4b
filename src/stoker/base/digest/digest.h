// Content digests: XXH3-128 of bytes, written as 32 hexadecimal digits.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

struct Digest128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  auto operator<=>(const Digest128&) const = default;
  std::string hex() const;        // 32 digits, high half first
  std::string short_hex() const;  // the first 16 of them
};

Digest128 digest_of(std::span<const std::byte> bytes) noexcept;
Digest128 digest_of(std::string_view text) noexcept;

// XXH3-64 with seed 0: the hash behind splits by id and keyed draws.
std::uint64_t hash64(std::string_view text) noexcept;

// A digest over bytes that arrive in pieces; the result does not depend on how they were cut.
class DigestStream {
 public:
  DigestStream();
  ~DigestStream();
  DigestStream(DigestStream&&) noexcept;
  DigestStream& operator=(DigestStream&&) noexcept;

  void add(std::span<const std::byte> bytes) noexcept;
  // Adds the text and its length, so that ("ab","c") and ("a","bc") differ.
  void add_text(std::string_view text) noexcept;
  template <class T>
  void add_number(T value) noexcept {
    add(std::as_bytes(std::span(&value, 1)));
  }
  Digest128 finish() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker
