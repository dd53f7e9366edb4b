// Has the storage bring in what the next batches need, in the order in which they are consumed.
#pragma once

#include <cstdint>
#include <memory>

#include "stoker/base/thread/sync.h"
#include "stoker/feed/sampling/epoch_cursor.h"
#include "stoker/feed/source/utterance_source.h"

namespace stoker::feed {

// A thread that stays some batches ahead of the newest one being filled. It only asks
// (UtteranceSource::will_need), so data that is in memory costs one look a batch.
class ReadAhead {
 public:
  struct Parts {
    std::shared_ptr<const UtteranceSource> source;
    std::shared_ptr<EpochCursor> planner;
    std::uint64_t end_epoch = 0;
    unsigned num_batches = 0;  // 0: rests until set_num_batches()
  };
  explicit ReadAhead(Parts parts);
  // Within a second: a thread that hangs in the storage is left behind with all it uses.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Batch `sequence` is about to be filled. From any thread; cheap.
  void filling(std::uint64_t sequence);
  void set_num_batches(unsigned num_batches);
  std::uint64_t num_asked() const;

  // Plans are kept this far behind the newest one asked for.
  static constexpr unsigned kMostBatches = 4096;

 private:
  struct Core;
  std::shared_ptr<Core> core_;
  Thread thread_;
};

}  // namespace stoker::feed
