// Hands rows to workers shard by shard, and whole shards to the one who commits them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "stoker/cache/build/inspect.h"
#include "stoker/cache/format/shard_writer.h"

namespace stoker::cache {

// One row's record while its shard is being made.
struct AssemblyRow {
  MadeRecord record;
  std::optional<Error> reject;
  std::optional<SourceHint> seen;
  bool reused = false;
};

// One shard in the making; its buffers are used again for later shards.
struct ShardAssembly {
  ShardState* state = nullptr;
  std::vector<AssemblyRow> rows;
  std::size_t num_open = 0;  // rows not yet finished
};

// Rows are given out in order, so the oldest shard is always finished first and a bounded number
// of shards is in memory. Every wait ends with stop(), fail() or the end of the work. Thread-safe.
class AssemblyLine {
 public:
  AssemblyLine(std::vector<ShardState*> todo, std::size_t max_in_flight);

  struct Task {
    ShardAssembly* shard;
    std::size_t row;
  };
  // The next row to make; nothing when there is none left or the work ends. Waits for room.
  std::optional<Task> next_task();
  void finish(const Task& task);

  // The next whole shard; nothing when all are done or the work ends.
  ShardAssembly* next_whole();
  void give_back(ShardAssembly* shard);

  void stop();  // no new rows; whole shards are still handed over
  void fail(std::exception_ptr why);
  std::exception_ptr failure() const;
  bool stopped() const;

  // Waits up to 100 ms for the end of all work; true when it has come.
  bool wait_for_end();
  void leave();  // a worker or the writer of the manifest has ended
  void enter();  // … has begun

 private:
  bool is_over() const STOKER_REQUIRES(mutex_) { return stopped_ || failure_ != nullptr; }
  bool begin_shard() STOKER_REQUIRES(mutex_);

  mutable Mutex mutex_;
  ConditionVariable changed_;  // rows, whole shards, room, the end
  ConditionVariable ended_;    // a thread has left
  const std::vector<ShardState*> todo_;
  std::vector<std::unique_ptr<ShardAssembly>> assemblies_ STOKER_GUARDED_BY(mutex_);
  std::vector<ShardAssembly*> free_ STOKER_GUARDED_BY(mutex_);
  std::vector<ShardAssembly*> whole_ STOKER_GUARDED_BY(mutex_);
  ShardAssembly* current_ STOKER_GUARDED_BY(mutex_) = nullptr;
  std::size_t next_row_ STOKER_GUARDED_BY(mutex_) = 0;
  std::size_t next_shard_ STOKER_GUARDED_BY(mutex_) = 0;
  std::size_t num_committed_ STOKER_GUARDED_BY(mutex_) = 0;
  std::size_t num_inside_ STOKER_GUARDED_BY(mutex_) = 0;
  std::size_t num_busy_ STOKER_GUARDED_BY(mutex_) = 0;  // rows given out and not finished
  bool stopped_ STOKER_GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker::cache
