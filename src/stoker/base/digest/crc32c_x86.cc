#include <immintrin.h>

#include <array>

#include "stoker/base/bytes.h"
#include "stoker/base/digest/crc32c_fast.h"

#define STOKER_SSE42 __attribute__((target("sse4.2,pclmul")))
#define STOKER_FOLDING \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,vpclmulqdq,pclmul,sse4.2")))

namespace stoker {
namespace {

// The rest of any size, one word and then one byte at a time.
STOKER_SSE42 std::uint32_t add_tail(std::uint32_t crc, std::span<const std::byte> bytes) {
  std::uint64_t wide = crc;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    wide = _mm_crc32_u64(wide, load_le<std::uint64_t>(bytes.data()));
  crc = static_cast<std::uint32_t>(wide);
  for (const std::byte byte : bytes) crc = _mm_crc32_u8(crc, static_cast<unsigned char>(byte));
  return crc;
}

// crc · x^(8·bytes): the product of 32-bit operands is one power too high and crc32 adds 32.
template <std::uint64_t kBytes>
STOKER_SSE42 std::uint64_t move_forward(std::uint64_t crc) {
  constexpr std::uint32_t kFactor = power_mod_crc32c(8 * kBytes - 33);
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(crc)),
                                               _mm_cvtsi64_si128(std::int64_t{kFactor}), 0);
  return _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(product)));
}

// The crc32 instruction takes three cycles but starts each cycle: three chains keep it busy.
template <std::size_t kChain>
STOKER_SSE42 std::uint32_t add_three_chains(std::uint32_t crc, std::span<const std::byte>& bytes) {
  while (bytes.size() >= 3 * kChain) {
    const std::byte* const at = bytes.data();
    std::uint64_t first = crc;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kChain; i += 8) {
      first = _mm_crc32_u64(first, load_le<std::uint64_t>(at + i));
      second = _mm_crc32_u64(second, load_le<std::uint64_t>(at + kChain + i));
      third = _mm_crc32_u64(third, load_le<std::uint64_t>(at + 2 * kChain + i));
    }
    crc = static_cast<std::uint32_t>(move_forward<2 * kChain>(first) ^
                                     move_forward<kChain>(second) ^ third);
    bytes = bytes.subspan(3 * kChain);
  }
  return crc;
}

STOKER_SSE42 std::uint32_t checksum_three_way(std::span<const std::byte> bytes,
                                              std::uint32_t seed) noexcept {
  std::uint32_t crc = add_three_chains<4096>(~seed, bytes);
  crc = add_three_chains<256>(crc, bytes);
  return ~add_tail(crc, bytes);
}

template <std::uint64_t kDistanceBytes>
STOKER_FOLDING inline __m512i fold(__m512i from, __m512i onto) {
  constexpr Crc32cFold kFold = crc32c_fold_by(kDistanceBytes);
  constexpr auto kFirst = static_cast<long long>(kFold.first);
  constexpr auto kLast = static_cast<long long>(kFold.last);
  const __m512i keys = _mm512_set4_epi64(kLast, kFirst, kLast, kFirst);
  const __m512i first = _mm512_clmulepi64_epi128(from, keys, 0x00);
  const __m512i last = _mm512_clmulepi64_epi128(from, keys, 0x11);
  return _mm512_ternarylogic_epi64(first, last, onto, 0x96);  // xor of three
}

// One vector of 64 bytes at a time on its way from memory into the fold.
class Stream {
 public:
  explicit Stream(const std::byte* from) : from_(from) {}

  STOKER_FOLDING __m512i next() {
    const __m512i value = _mm512_loadu_si512(from_);
    from_ += 64;
    return value;
  }

 private:
  const std::byte* from_;
};

STOKER_FOLDING inline __m128i fold_lane(__m128i lane, Crc32cFold by) {
  const __m128i keys =
      _mm_set_epi64x(static_cast<long long>(by.last), static_cast<long long>(by.first));
  return _mm_xor_si128(_mm_clmulepi64_si128(lane, keys, 0x00),
                       _mm_clmulepi64_si128(lane, keys, 0x11));
}

STOKER_FOLDING std::uint32_t reduce(__m512i lanes) {
  constexpr std::array kBy{crc32c_fold_by(48), crc32c_fold_by(32), crc32c_fold_by(16)};
  // Through memory: the extract intrinsics of g++ 12 warn of their own undefined operand.
  alignas(64) __m128i lane[4];
  _mm512_store_si512(lane, lanes);
  __m128i sum = lane[3];
  for (std::size_t i = 0; i < kBy.size(); ++i) sum = _mm_xor_si128(sum, fold_lane(lane[i], kBy[i]));
  const auto low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(sum));
  const auto high = static_cast<std::uint64_t>(_mm_extract_epi64(sum, 1));
  return static_cast<std::uint32_t>(_mm_crc32_u64(_mm_crc32_u64(0, low), high));
}

// Four independent folds hide the latency of the carry-less product. Precondition: 256 bytes or
// more. Leaves fewer than 64 bytes in `left`.
STOKER_FOLDING std::uint32_t fold_blocks(std::uint32_t crc, std::span<const std::byte> bytes,
                                         std::size_t& left) {
  Stream stream(bytes.data());
  __m512i a = stream.next();
  __m512i b = stream.next();
  __m512i c = stream.next();
  __m512i d = stream.next();
  a = _mm512_xor_si512(a, _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc))));
  left = bytes.size() - 256;
  for (; left >= 256; left -= 256) {
    a = fold<256>(a, stream.next());
    b = fold<256>(b, stream.next());
    c = fold<256>(c, stream.next());
    d = fold<256>(d, stream.next());
  }
  __m512i sum = fold<192>(a, fold<128>(b, fold<64>(c, d)));
  for (; left >= 64; left -= 64) sum = fold<64>(sum, stream.next());
  return reduce(sum);
}

STOKER_FOLDING std::uint32_t checksum_folding(std::span<const std::byte> bytes,
                                              std::uint32_t seed) noexcept {
  if (bytes.size() < 256) return checksum_three_way(bytes, seed);
  std::size_t left = 0;
  const std::uint32_t crc = fold_blocks(~seed, bytes, left);
  return ~add_tail(crc, bytes.last(left));
}

}  // namespace

void append_fast_crc32c_paths(std::vector<Crc32cPath>& paths) {
  if (__builtin_cpu_supports("sse4.2") == 0 || __builtin_cpu_supports("pclmul") == 0) return;
  paths.push_back({"three-way", &checksum_three_way});
  const bool folds =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("vpclmulqdq") != 0;
  if (folds) paths.push_back({"folding", &checksum_folding});
}

}  // namespace stoker
