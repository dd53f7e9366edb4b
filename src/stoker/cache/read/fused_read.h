// One pass over a payload that makes its CRC32C while copying or converting it into a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "stoker/cache/format/element_type.h"

namespace stoker::cache {

struct FusedCopy {
  std::span<const std::byte> payload;
  ElementType from = ElementType::kF16;
  ElementType to = ElementType::kF16;
  void* out = nullptr;           // room for every value of the payload as `to`
  std::uint32_t crc_before = 0;  // register after the record's identity
};

// f16, bf16 and f32 convert into each other (round to nearest even); equal types always copy.
bool can_convert(ElementType from, ElementType to) noexcept;

// Copies and returns the CRC. With streaming stores where the machine has wide ones: a batch does
// not push the worker's tables out of the caches. Precondition: can_convert(from, to).
std::uint32_t copy_with_crc(const FusedCopy& copy) noexcept;

// The same without a CRC, for records that were checked before.
void copy_without_crc(const FusedCopy& copy) noexcept;

// Fills `num_values` values of type `element` at `out`, past the caches where there are many.
// Precondition: a float type.
void fill_values(void* out, ElementType element, std::size_t num_values, float value) noexcept;

// "avx512 vpclmulqdq", "avx2 3-way" or "portable": which kernel runs on this machine.
std::string_view fused_kernel_name() noexcept;

}  // namespace stoker::cache
