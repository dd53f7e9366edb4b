#include "stoker/cache/read/fused_read.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "stoker/audio/float16.h"
#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/base/invariant.h"
#include "stoker/base/simd_level.h"

namespace stoker::cache {
namespace {

// Blocks that stay in the first-level cache between the CRC and the copy.
constexpr std::size_t kBlockBytes = 4096;

void widen_portable(const std::byte* from, float* to, std::size_t num_values) {
  for (std::size_t i = 0; i < num_values; ++i)
    to[i] = audio::f16_value(load_le<std::uint16_t>(from + 2 * i));
}

std::uint32_t widen_portable_crc(const std::byte* from, float* to, std::size_t num_values,
                                 std::uint32_t crc) {
  constexpr std::size_t kBlockValues = kBlockBytes / 2;
  for (std::size_t at = 0; at < num_values; at += kBlockValues) {
    const std::size_t block = std::min(kBlockValues, num_values - at);
    crc = crc32c({from + 2 * at, 2 * block}, crc);
    widen_portable(from + 2 * at, to + at, block);
  }
  return crc;
}

const FusedKernels& choose_kernels() {
#if defined(__x86_64__)
  Result<SimdLevel> level = simd_level();
  const bool crc = __builtin_cpu_supports("sse4.2");
  if (level.ok() && crc && *level == SimdLevel::kAvx512 && __builtin_cpu_supports("vpclmulqdq"))
    return kAvx512Kernels;
  if (level.ok() && crc && (*level == SimdLevel::kAvx512 || *level == SimdLevel::kAvx2))
    return kAvx2Kernels;
#endif
  return kPortableKernels;
}

const FusedKernels& kernels() {
  static const FusedKernels& chosen = choose_kernels();
  return chosen;
}

float load_float(const std::byte* at, ElementType type) noexcept {
  if (type == ElementType::kF16) return audio::f16_value(load_le<std::uint16_t>(at));
  if (type == ElementType::kBf16) return audio::bf16_value(load_le<std::uint16_t>(at));
  return load_le<float>(at);
}

void store_float(std::byte* at, ElementType type, float value) noexcept {
  if (type == ElementType::kF16) return store_le(at, audio::f16_bits_or_infinity(value));
  if (type == ElementType::kBf16) return store_le(at, audio::bf16_bits(value));
  store_le(at, value);
}

// The rarer conversions: value by value, the CRC apart.
void convert_each(const FusedCopy& copy) noexcept {
  const std::size_t from_bytes = element_bytes(copy.from);
  const std::size_t to_bytes = element_bytes(copy.to);
  auto* out = static_cast<std::byte*>(copy.out);
  const std::size_t num_values = copy.payload.size() / from_bytes;
  for (std::size_t i = 0; i < num_values; ++i)
    store_float(out + i * to_bytes, copy.to,
                load_float(copy.payload.data() + i * from_bytes, copy.from));
}

bool is_batch_float(ElementType type) noexcept {
  return type == ElementType::kF16 || type == ElementType::kBf16 || type == ElementType::kF32;
}

bool is_widening(const FusedCopy& copy) noexcept {
  return copy.from == ElementType::kF16 && copy.to == ElementType::kF32;
}

}  // namespace

std::uint32_t copy_by_blocks(const std::byte* from, std::byte* to, std::size_t num_bytes,
                             std::uint32_t crc) {
  for (std::size_t at = 0; at < num_bytes; at += kBlockBytes) {
    const std::size_t block = std::min(kBlockBytes, num_bytes - at);
    crc = crc32c({from + at, block}, crc);
    std::memcpy(to + at, from + at, block);
  }
  return crc;
}

void fill_by_values(std::byte* to, std::size_t num_bytes, std::uint32_t four_bytes) {
  std::size_t at = 0;
  for (; at + sizeof four_bytes <= num_bytes; at += sizeof four_bytes)
    std::memcpy(to + at, &four_bytes, sizeof four_bytes);
  std::memcpy(to + at, &four_bytes, num_bytes - at);
}

const FusedKernels kPortableKernels{"portable", copy_by_blocks, widen_portable_crc, widen_portable,
                                    fill_by_values};

bool can_convert(ElementType from, ElementType to) noexcept {
  return from == to || (is_batch_float(from) && is_batch_float(to));
}

std::uint32_t copy_with_crc(const FusedCopy& copy) noexcept {
  check_invariant(can_convert(copy.from, copy.to), "a conversion that does not exist");
  const std::byte* from = copy.payload.data();
  if (copy.from == copy.to)
    return kernels().copy(from, static_cast<std::byte*>(copy.out), copy.payload.size(),
                          copy.crc_before);
  if (is_widening(copy))
    return kernels().widen(from, static_cast<float*>(copy.out), copy.payload.size() / 2,
                           copy.crc_before);
  convert_each(copy);
  return crc32c(copy.payload, copy.crc_before);
}

void copy_without_crc(const FusedCopy& copy) noexcept {
  check_invariant(can_convert(copy.from, copy.to), "a conversion that does not exist");
  if (copy.from == copy.to) {
    if (!copy.payload.empty()) std::memcpy(copy.out, copy.payload.data(), copy.payload.size());
  } else if (is_widening(copy)) {
    kernels().widen_only(copy.payload.data(), static_cast<float*>(copy.out),
                         copy.payload.size() / 2);
  } else {
    convert_each(copy);
  }
}

void fill_values(void* out, ElementType element, std::size_t num_values, float value) noexcept {
  check_invariant(is_batch_float(element), "padding of a type that is not a float");
  if (num_values == 0) return;
  std::uint32_t four_bytes = std::bit_cast<std::uint32_t>(value);
  if (element != ElementType::kF32) {
    const std::uint16_t half =
        element == ElementType::kF16 ? audio::f16_bits_or_infinity(value) : audio::bf16_bits(value);
    four_bytes = std::uint32_t{half} << 16U | half;
  }
  kernels().fill(static_cast<std::byte*>(out), num_values * element_bytes(element), four_bytes);
}

std::string_view fused_kernel_name() noexcept { return kernels().name; }

}  // namespace stoker::cache
