// CRC32C by carry-less multiplication runs beside the load and store of a copy at no cost of its
// own: memory is the limit. Intrinsics, because the fold has no portable form.
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "stoker/audio/float16.h"
#include "stoker/base/digest/crc32c.h"
#include "stoker/cache/read/fused_read.h"

#include "stoker/base/bytes.h"

#define STOKER_AVX2 __attribute__((target("avx2,f16c,sse4.2")))
#define STOKER_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512vl,vpclmulqdq,pclmul,sse4.2,f16c")))

namespace stoker::cache {
namespace {

constexpr std::size_t kVectorBytes = 64;
constexpr std::size_t kFoldBytes = 4 * kVectorBytes;
constexpr std::size_t kBlockBytes = 4096;
// The processor's own prefetch ends with each page; measured: 8 % for copies, 2 % for widening.
constexpr std::size_t kAheadBytes = 2048;

// x^num_bits modulo the CRC32C polynomial in the reflected form the carry-less multiply wants (one
// bit to the left).
constexpr std::uint64_t fold_constant(unsigned num_bits) {
  std::uint32_t remainder = 0x80000000U;  // x^0, reflected
  for (unsigned i = 0; i < num_bits; ++i)
    remainder = remainder >> 1U ^ ((remainder & 1U) != 0 ? 0x82F63B78U : 0U);
  return std::uint64_t{remainder} << 1U;
}

constexpr std::uint64_t kFoldLow = fold_constant(kFoldBytes * 8 + 32);
constexpr std::uint64_t kFoldHigh = fold_constant(kFoldBytes * 8 - 32);

// Rows of a batch begin anywhere: what is before the first whole vector is stored by itself, so
// that all others can be streamed.
std::size_t bytes_to_vector(const void* pointer) noexcept {
  return -reinterpret_cast<std::uintptr_t>(pointer) % kVectorBytes;
}

// A mask of the first `count` of 64.
constexpr __mmask64 lowest_bits(std::size_t count) {
  return count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
}

STOKER_AVX512 std::uint32_t crc_of_tail(std::uint64_t register_value, const std::byte* from,
                                        std::size_t num_bytes) {
  for (; num_bytes >= 8; from += 8, num_bytes -= 8)
    register_value = _mm_crc32_u64(register_value, load_le<std::uint64_t>(from));
  for (; num_bytes > 0; ++from, --num_bytes)
    register_value = _mm_crc32_u8(static_cast<std::uint32_t>(register_value),
                                  std::to_integer<std::uint8_t>(*from));
  return static_cast<std::uint32_t>(register_value);
}

// The running fold of 256 bytes: congruent to all bytes seen, so their CRC is the fold's.
struct Fold {
  __m512i lanes[4];
};

STOKER_AVX512 inline __m512i fold_step(__m512i lane, __m512i next, __m512i constants) {
  const __m512i low = _mm512_clmulepi64_epi128(lane, constants, 0x00);
  const __m512i high = _mm512_clmulepi64_epi128(lane, constants, 0x11);
  return _mm512_ternarylogic_epi64(low, high, next, 0x96);
}

STOKER_AVX512 std::uint32_t finish_fold(const Fold& fold, const std::byte* rest,
                                        std::size_t rest_bytes) {
  alignas(kVectorBytes) std::byte folded[kFoldBytes];
  for (std::size_t i = 0; i < 4; ++i) _mm512_store_si512(folded + i * kVectorBytes, fold.lanes[i]);
  return ~crc_of_tail(crc_of_tail(0, folded, kFoldBytes), rest, rest_bytes);
}

// Stores one loaded vector as it is, at an aligned address.
struct StoreBytes {
  std::byte* to;
  STOKER_AVX512 void operator()(__m512i value, std::size_t at_bytes) const {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at_bytes), value);
  }
};

// Stores 32 halves as 32 floats, at an aligned address.
struct StoreWide {
  float* to;
  STOKER_AVX512 void operator()(__m512i value, std::size_t at_bytes) const {
    float* out = to + at_bytes / 2;
    _mm512_stream_ps(out, _mm512_cvtph_ps(_mm512_castsi512_si256(value)));
    _mm512_stream_ps(out + 16, _mm512_cvtph_ps(_mm512_extracti64x4_epi64(value, 1)));
  }
};

// Folds all whole blocks of 256 bytes and hands each vector to `store`; returns the bytes done.
template <class Store>
STOKER_AVX512 std::size_t fold_blocks(const std::byte* from, std::size_t num_bytes,
                                      std::uint32_t crc_before, const Store& store, Fold& fold) {
  const __m512i constants =
      _mm512_set_epi64(static_cast<long long>(kFoldHigh), static_cast<long long>(kFoldLow),
                       static_cast<long long>(kFoldHigh), static_cast<long long>(kFoldLow),
                       static_cast<long long>(kFoldHigh), static_cast<long long>(kFoldLow),
                       static_cast<long long>(kFoldHigh), static_cast<long long>(kFoldLow));
  for (std::size_t i = 0; i < 4; ++i) {
    fold.lanes[i] = _mm512_loadu_si512(from + i * kVectorBytes);
    store(fold.lanes[i], i * kVectorBytes);
  }
  fold.lanes[0] = _mm512_xor_si512(
      fold.lanes[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(~crc_before))));
  std::size_t at = kFoldBytes;
  for (; at + kFoldBytes <= num_bytes; at += kFoldBytes) {
    for (std::size_t i = 0; i < 4; ++i) {
      _mm_prefetch(from + at + kAheadBytes + i * kVectorBytes, _MM_HINT_T0);
      const __m512i next = _mm512_loadu_si512(from + at + i * kVectorBytes);
      store(next, at + i * kVectorBytes);
      fold.lanes[i] = fold_step(fold.lanes[i], next, constants);
    }
  }
  return at;
}

STOKER_AVX512 std::uint32_t copy_avx512(const std::byte* from, std::byte* to, std::size_t num_bytes,
                                        std::uint32_t crc_before) {
  const std::size_t head = std::min(bytes_to_vector(to), num_bytes);
  if (head > 0) std::memcpy(to, from, head);
  const std::uint32_t crc = ~crc_of_tail(static_cast<std::uint32_t>(~crc_before), from, head);
  from += head, to += head, num_bytes -= head;
  if (num_bytes < kFoldBytes) {
    if (num_bytes > 0) std::memcpy(to, from, num_bytes);
    return ~crc_of_tail(static_cast<std::uint32_t>(~crc), from, num_bytes);
  }
  Fold fold;
  const std::size_t done = fold_blocks(from, num_bytes, crc, StoreBytes{to}, fold);
  std::memcpy(to + done, from + done, num_bytes - done);
  _mm_sfence();
  return finish_fold(fold, from + done, num_bytes - done);
}

// Whole batches go past the caches, the few values around a fold do not.
STOKER_AVX512 void widen_avx512_only(const std::byte* from, float* to, std::size_t num_values) {
  constexpr std::size_t kManyValues = 1024;
  std::size_t i = 0;
  if (num_values >= kManyValues && bytes_to_vector(to) == 0) {
    const StoreWide store{to};
    for (; i + 32 <= num_values; i += 32) store(_mm512_loadu_si512(from + 2 * i), 2 * i);
    _mm_sfence();
  }
  for (; i + 16 <= num_values; i += 16)
    _mm512_storeu_ps(
        to + i,
        _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 2 * i))));
  for (; i < num_values; ++i) to[i] = audio::f16_value(load_le<std::uint16_t>(from + 2 * i));
}

STOKER_AVX512 std::uint32_t widen_avx512(const std::byte* from, float* to, std::size_t num_values,
                                         std::uint32_t crc_before) {
  const std::size_t head = std::min(bytes_to_vector(to) / sizeof(float), num_values);
  widen_avx512_only(from, to, head);
  const std::uint32_t crc = ~crc_of_tail(static_cast<std::uint32_t>(~crc_before), from, 2 * head);
  from += 2 * head, to += head, num_values -= head;
  const std::size_t num_bytes = 2 * num_values;
  if (num_bytes < kFoldBytes) {
    widen_avx512_only(from, to, num_values);
    return ~crc_of_tail(static_cast<std::uint32_t>(~crc), from, num_bytes);
  }
  Fold fold;
  const std::size_t done = fold_blocks(from, num_bytes, crc, StoreWide{to}, fold);
  widen_avx512_only(from + done, to + done / 2, num_values - done / 2);
  _mm_sfence();
  return finish_fold(fold, from + done, num_bytes - done);
}

STOKER_AVX2 void widen_avx2_only(const std::byte* from, float* to, std::size_t num_values) {
  std::size_t i = 0;
  for (; i + 8 <= num_values; i += 8)
    _mm256_storeu_ps(
        to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i))));
  for (; i < num_values; ++i) to[i] = audio::f16_value(load_le<std::uint16_t>(from + 2 * i));
}

// Padding is read by the consumer alone: whole lines go to memory without being fetched first.
STOKER_AVX512 void fill_avx512(std::byte* to, std::size_t num_bytes, std::uint32_t four_bytes) {
  const __m512i values = _mm512_set1_epi32(static_cast<int>(four_bytes));
  const std::size_t head = std::min(num_bytes, bytes_to_vector(to));
  _mm512_mask_storeu_epi8(to, lowest_bits(head), values);
  std::size_t at = head;
  for (; at + kVectorBytes <= num_bytes; at += kVectorBytes)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at), values);
  _mm512_mask_storeu_epi8(to + at, lowest_bits(num_bytes - at), values);
  _mm_sfence();
}

// Without wide carry-less multiplication the three-way CRC of a block comes first, as in
// copy_by_blocks().
std::uint32_t widen_avx2(const std::byte* from, float* to, std::size_t num_values,
                         std::uint32_t crc) {
  constexpr std::size_t kBlockValues = kBlockBytes / 2;
  for (std::size_t at = 0; at < num_values; at += kBlockValues) {
    const std::size_t block = std::min(kBlockValues, num_values - at);
    crc = crc32c({from + 2 * at, 2 * block}, crc);
    widen_avx2_only(from + 2 * at, to + at, block);
  }
  return crc;
}

}  // namespace

const FusedKernels kAvx2Kernels{"avx2, CRC by blocks", copy_by_blocks, widen_avx2, widen_avx2_only,
                                fill_by_values};
const FusedKernels kAvx512Kernels{"avx512 vpclmulqdq", copy_avx512, widen_avx512, widen_avx512_only,
                                  fill_avx512};

}  // namespace stoker::cache
