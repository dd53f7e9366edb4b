#include "stoker/cache/format/element_type.h"

#include <array>

#include "stoker/base/invariant.h"

namespace stoker::cache {
namespace {

struct Row {
  ElementType type;
  std::size_t size_bytes;
  std::string_view name;
  std::string_view npy;
  bool floating;
};

constexpr std::array kRows{
    Row{ElementType::kF16, 2, "f16", "f2", true},  Row{ElementType::kBf16, 2, "bf16", "", true},
    Row{ElementType::kF32, 4, "f32", "f4", true},  Row{ElementType::kF64, 8, "f64", "f8", true},
    Row{ElementType::kI8, 1, "i8", "i1", false},   Row{ElementType::kU8, 1, "u8", "u1", false},
    Row{ElementType::kI16, 2, "i16", "i2", false}, Row{ElementType::kU16, 2, "u16", "u2", false},
    Row{ElementType::kI32, 4, "i32", "i4", false}, Row{ElementType::kU32, 4, "u32", "u4", false},
    Row{ElementType::kI64, 8, "i64", "i8", false}, Row{ElementType::kU64, 8, "u64", "u8", false}};

const Row& row_of(ElementType type) noexcept {
  const auto code = static_cast<std::size_t>(type);
  check_invariant(code >= 1 && code <= kRows.size(), "an element type outside the table");
  return kRows[code - 1];
}

}  // namespace

std::size_t element_bytes(ElementType type) noexcept { return row_of(type).size_bytes; }
std::string_view element_name(ElementType type) noexcept { return row_of(type).name; }
bool is_float(ElementType type) noexcept { return row_of(type).floating; }
std::string_view npy_name(ElementType type) noexcept { return row_of(type).npy; }

std::optional<ElementType> element_from_code(std::uint16_t code) noexcept {
  if (code < 1 || code > kRows.size()) return std::nullopt;
  return kRows[code - 1U].type;
}

std::optional<ElementType> element_from_name(std::string_view name) noexcept {
  for (const Row& row : kRows)
    if (row.name == name) return row.type;
  return std::nullopt;
}

}  // namespace stoker::cache
