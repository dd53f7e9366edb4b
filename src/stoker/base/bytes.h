// Little-endian numbers in byte buffers, whatever the machine and the alignment.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace stoker {

static_assert(std::endian::native == std::endian::little,
              "the file formats are read without byte swapping");

template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] T load_le(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
  requires std::is_trivially_copyable_v<T>
void store_le(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof(T));
}

inline std::span<const std::byte> view_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string_view view_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace stoker
