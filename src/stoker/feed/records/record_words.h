// The words of a ring of records: shared by threads and processes, so that each is read and written
// as one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "stoker/feed/records/record_format.h"

namespace stoker::feed {

// Release and acquire: see RecordRing.
inline void store_word(std::uint64_t* word, std::uint64_t value) noexcept {
  std::atomic_ref<std::uint64_t>(*word).store(value, std::memory_order_release);
}

// The word itself is never const: it is in memory that is mapped for writing.
inline std::uint64_t load_word(const std::uint64_t* word) noexcept {
  return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(*word))
      .load(std::memory_order_acquire);
}

inline std::uint64_t* head_word(std::byte* memory, std::size_t offset_bytes) {
  return reinterpret_cast<std::uint64_t*>(memory + offset_bytes);
}

// Of everything in the header that is constant.
std::uint32_t checksum_of(const RecordFileHead& head);

}  // namespace stoker::feed
