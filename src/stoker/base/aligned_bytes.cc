#include "stoker/base/aligned_bytes.h"

#include <sys/mman.h>

#include <cstdint>

namespace stoker {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;
constexpr std::size_t kPageBytes = 4096;

// Large pages save most of the address translation of memory that is written and read as a whole.
// They need an aligned start, so more is mapped at first and cut off again.
std::byte* map_huge_pages(std::size_t size_bytes) {
  void* const at = mmap(nullptr, size_bytes + kHugePageBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  auto* const mapped = static_cast<std::byte*>(at);
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const std::size_t before = round_up(address, kHugePageBytes) - address;
  std::byte* const begin = mapped + before;
  if (before > 0) munmap(mapped, before);
  if (before < kHugePageBytes) munmap(begin + size_bytes, kHugePageBytes - before);
  madvise(begin, size_bytes, MADV_HUGEPAGE);
  return begin;
}

}  // namespace

std::size_t AlignedBytes::taken_bytes(std::size_t size_bytes) {
  return round_up(size_bytes, size_bytes >= kHugePageBytes ? kPageBytes : kCacheLineBytes);
}

void FreeBytes::operator()(std::byte* bytes) const noexcept {
  if (is_borrowed) return;
  if (mapped_bytes == 0) {
    std::free(bytes);
  } else {
    munmap(bytes, mapped_bytes);
  }
}

AlignedBytes::AlignedBytes(std::size_t size_bytes) : size_bytes_(size_bytes) {
  if (size_bytes == 0) return;
  if (size_bytes < kHugePageBytes) {
    bytes_.reset(make_aligned<std::byte>(size_bytes).release());
    return;
  }
  const std::size_t taken = taken_bytes(size_bytes);
  bytes_ = {map_huge_pages(taken), FreeBytes{.mapped_bytes = taken}};
}

AlignedBytes AlignedBytes::borrow(std::span<std::byte> memory) {
  AlignedBytes bytes;
  bytes.bytes_ = {memory.data(), FreeBytes{.is_borrowed = true}};
  bytes.size_bytes_ = memory.size();
  return bytes;
}

}  // namespace stoker
