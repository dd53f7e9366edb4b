// Memory for large arrays: aligned for vector instructions, and not touched before it is written.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <span>

#include "stoker/base/checked.h"

namespace stoker {

inline constexpr std::size_t kCacheLineBytes = 64;

struct FreeAligned {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
template <class T>
using AlignedArray = std::unique_ptr<T[], FreeAligned>;

// From the heap, with values that are not set. `alignment` is a power of two. Throws
// std::bad_alloc.
template <class T>
AlignedArray<T> make_aligned(std::size_t count, std::size_t alignment = kCacheLineBytes) {
  if (count > (std::numeric_limits<std::size_t>::max() - alignment) / sizeof(T)) {
    throw std::bad_alloc();
  }
  void* const memory = std::aligned_alloc(alignment, round_up(count * sizeof(T), alignment));
  if (memory == nullptr) throw std::bad_alloc();
  return AlignedArray<T>(static_cast<T*>(memory));
}

struct FreeBytes {
  std::size_t mapped_bytes = 0;  // 0: from the heap
  bool is_borrowed = false;
  void operator()(std::byte* bytes) const noexcept;
};

// Memory that begins at a cache line. It owns the memory or borrows it from an owner that lives
// longer. Pieces of 2 MiB and more are mapped, so that the kernel can back them with large pages
// and gets them back when they are freed.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size_bytes);  // throws std::bad_alloc
  static AlignedBytes borrow(std::span<std::byte> memory);
  std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_bytes_; }

  // What memory of that size takes.
  static std::size_t taken_bytes(std::size_t size_bytes);

 private:
  std::unique_ptr<std::byte, FreeBytes> bytes_;
  std::size_t size_bytes_ = 0;
};

}  // namespace stoker
