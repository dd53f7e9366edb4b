// Processor time and page faults of the thread that fills batches, told apart by batch.
#pragma once

#include <cstdint>

#include "stoker/feed/records/batch_record.h"

namespace stoker::feed {

// Reading a thread's processor time is a system call of half a microsecond, which short steps would
// feel.
inline constexpr std::int64_t kBetweenLooksNs = 1'000'000;

// One filling thread. Its use is looked at when a batch is filled, at most once a millisecond. What
// is between two looks belongs to the later one's batch; between batches a worker waits, or hands
// over for a few microseconds.
class ThreadUse {
 public:
  // A thread that does other things between its batches is looked at here, too.
  void begin(bool is_shared) noexcept {
    is_shared_ = is_shared;
    if (!is_known_ || is_shared) look();
  }
  // `now_ns`: when the batch was filled. Without a look the record's time is -1.
  void finish(std::int64_t now_ns, BatchRecord& record) noexcept;

 private:
  void look() noexcept;

  bool is_known_ = false;
  bool is_shared_ = false;
  std::int64_t next_look_ns_ = 0;
  std::int64_t cpu_ns_ = 0;
  std::int64_t num_minor_ = 0;
  std::int64_t num_major_ = 0;
};

}  // namespace stoker::feed
