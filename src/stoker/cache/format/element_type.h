// The types of numbers a record can hold, with their codes in the format and their npy names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "stoker/config/mel_dtype.h"

namespace stoker::cache {

// The values are the codes in the file format (docs/format/cache.md).
enum class ElementType : std::uint16_t {
  kF16 = 1,
  kBf16 = 2,
  kF32 = 3,
  kF64 = 4,
  kI8 = 5,
  kU8 = 6,
  kI16 = 7,
  kU16 = 8,
  kI32 = 9,
  kU32 = 10,
  kI64 = 11,
  kU64 = 12,
};

std::size_t element_bytes(ElementType type) noexcept;
std::string_view element_name(ElementType type) noexcept;  // "f16"
bool is_float(ElementType type) noexcept;

// The element type of mels in a number format.
constexpr ElementType element_of(config::MelDtype dtype) noexcept {
  switch (dtype) {
    case config::MelDtype::kF32:
      return ElementType::kF32;
    case config::MelDtype::kBf16:
      return ElementType::kBf16;
    case config::MelDtype::kF16:
      break;
  }
  return ElementType::kF16;
}

std::optional<ElementType> element_from_code(std::uint16_t code) noexcept;
std::optional<ElementType> element_from_name(std::string_view name) noexcept;

// numpy's kind and size, "f4"; bf16 has none and is exported as f32.
std::string_view npy_name(ElementType type) noexcept;

}  // namespace stoker::cache
