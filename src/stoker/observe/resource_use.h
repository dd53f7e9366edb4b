// What a run takes of the machine: the memory of this process.
#pragma once

#include <cstdint>

#include "stoker/base/io/io.h"

namespace stoker::observe {

struct ProcessMemory {
  std::uint64_t anonymous_bytes = 0;  // RssAnon: heap, stacks, buffers
  std::uint64_t shared_bytes = 0;     // RssShmem: shared memory that is mapped here
  std::uint64_t file_bytes = 0;       // RssFile: pages of the cache's files, dropped when needed

  // What cannot be dropped.
  std::uint64_t held_bytes() const { return anonymous_bytes + shared_bytes; }
};

// All 0 where /proc is not there.
ProcessMemory process_memory(Io& io);

// The share of this process in all pages it maps, in bytes: a page that four map counts a quarter.
std::uint64_t proportional_bytes(Io& io);

}  // namespace stoker::observe
