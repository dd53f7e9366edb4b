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

// The kernels behind these functions, one set per instruction level; only fused_read.cc chooses.
// `copy` moves bytes, `widen` turns f16 into f32. Both return the CRC of the source bytes that
// began with `crc_before`. `fill` writes four bytes again and again; the last ones may be cut off.
// No alignment is needed but that of a value.
struct FusedKernels {
  const char* name;
  std::uint32_t (*copy)(const std::byte* from, std::byte* to, std::size_t num_bytes,
                        std::uint32_t crc_before);
  std::uint32_t (*widen)(const std::byte* from, float* to, std::size_t num_values,
                         std::uint32_t crc_before);
  void (*widen_only)(const std::byte* from, float* to, std::size_t num_values);
  void (*fill)(std::byte* to, std::size_t num_bytes, std::uint32_t four_bytes);
};

// Of the portable set, also where no wide instruction helps: the CRC of a block that fits the
// first-level cache comes first, then the block's copy.
std::uint32_t copy_by_blocks(const std::byte* from, std::byte* to, std::size_t num_bytes,
                             std::uint32_t crc_before);
void fill_by_values(std::byte* to, std::size_t num_bytes, std::uint32_t four_bytes);

extern const FusedKernels kPortableKernels;
extern const FusedKernels kAvx2Kernels;    // needs AVX2, F16C, SSE4.2
extern const FusedKernels kAvx512Kernels;  // needs AVX-512 F, BW, VL, VPCLMULQDQ, SSE4.2

}  // namespace stoker::cache
