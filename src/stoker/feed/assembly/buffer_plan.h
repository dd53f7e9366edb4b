// How many batches a buffer holds when no setting says: from memory, and from how long this machine
// may keep a thread waiting.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

namespace stoker::feed {

struct BufferFacts {
  std::uint64_t slot_bytes = 1;
  std::uint64_t memory_bytes =
      std::numeric_limits<std::uint64_t>::max();  // that all slots may take
  unsigned num_workers = 1;
  std::uint64_t batch_frames = 0;     // a step of the consumer is no shorter than these take
  std::chrono::nanoseconds jitter{};  // the longest a thread was late; 0: not measured
};

struct BufferPlan {
  unsigned num_batches = 0;
  std::string reason;  // "30 for a pause of 30 ms, 2 being filled"
};

// Enough for a consumer of short steps to go on while nothing is filled for several times the
// jitter, and what the workers have in hand; as far as the memory goes.
BufferPlan plan_buffer(const BufferFacts& facts);

// Sleeps many times for a moment, `time` in all, and says by how much the latest waking was late.
std::chrono::nanoseconds measure_jitter(std::chrono::nanoseconds time);

}  // namespace stoker::feed
