#include "stoker/base/stream_copy.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#endif

namespace stoker {

#if defined(__SSE2__)
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kVectorBytes = sizeof(__m128i);

// Precondition: `to` is aligned to a line. Four stores fill one; wider ones measured the same.
void stream_line(const std::byte* from, std::byte* to) noexcept {
  for (std::size_t at = 0; at < kLineBytes; at += kVectorBytes) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), bytes);
  }
}

}  // namespace

void stream_copy(std::span<const std::byte> from, std::byte* to) noexcept {
  if (from.empty()) return;
  const std::size_t head =
      std::min<std::size_t>(-reinterpret_cast<std::uintptr_t>(to) % kLineBytes, from.size());
  std::memcpy(to, from.data(), head);
  std::size_t at = head;
  for (; at + kLineBytes <= from.size(); at += kLineBytes) stream_line(from.data() + at, to + at);
  std::memcpy(to + at, from.data() + at, from.size() - at);
  _mm_sfence();
}
#else
void stream_copy(std::span<const std::byte> from, std::byte* to) noexcept {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}
#endif

}  // namespace stoker
