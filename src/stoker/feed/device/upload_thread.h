// The thread that uploads batches: takes filled slots in order, enqueues their copies, and gives
// their memory back to the workers when these are done.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <stop_token>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "stoker/feed/assembly/collator.h"
#include "stoker/feed/device/lease.h"
#include "stoker/feed/device/peer_transfer.h"
#include "stoker/feed/device/uploader.h"
#include "stoker/pipeline/pipeline.h"

namespace stoker::feed {

struct UploadThreadParts {
  std::shared_ptr<const DeviceSetup> setup;
  std::shared_ptr<DeviceUploader> work;
  std::shared_ptr<Collator> fill;
  pipeline::Pipeline& pipeline;
  std::shared_ptr<const BatchFormat> format;
  RunRecords records;
  unsigned num_host_slots = 3;
  std::chrono::nanoseconds patience{};  // with a consumer that holds every batch
};

// One consumer thread. Destruction stops the thread and waits for copies that still read host
// memory.
class UploadThread {
 public:
  static constexpr unsigned kMostInFlight = 8;
  // Copies in flight while workers fill the other slots. A smaller depth would leave the workers
  // none.
  static unsigned most_in_flight(unsigned num_host_slots);

  explicit UploadThread(const UploadThreadParts& parts);
  ~UploadThread();

  // The next batch in order, its copies and kernels enqueued; empty at the end and after a stop.
  // Throws what ended the run.
  DeviceLease next(const std::stop_token& stop, const WaitPause* pause = nullptr);
  RingStats ring_stats() const { return parts_.work->ring()->stats(); }
  UploadStats stats() const;

 private:
  struct InFlight {
    pipeline::SlotLease lease;
    cuda::Event* copied = nullptr;
  };

  void run(const std::stop_token& stop);
  void move_batches(const std::stop_token& stop);
  bool await_demand(const std::stop_token& stop);
  void retire(std::size_t most_left);
  void count(double launch_s, double copy_wait_s);
  std::int64_t now_ns() const;
  void note_wait(std::uint64_t sequence, std::int64_t begun_ns);
  void note_ready(std::uint64_t sequence);
  void note_consumer(std::uint64_t sequence);

  UploadThreadParts parts_;
  UploadTimer timer_;
  std::unique_ptr<PeerTransfer> peer_transfer_;  // null: the consumer reads where features are made
  std::vector<cuda::Event> copied_;
  std::deque<InFlight> in_flight_;
  std::uint64_t num_moved_ = 0;
  std::int64_t next_look_ns_ = 0;  // at the consumer
  mutable Mutex mutex_;
  ConditionVariable asked_;
  std::uint64_t num_asked_ STOKER_GUARDED_BY(mutex_) = 0;
  UploadStats stats_ STOKER_GUARDED_BY(mutex_);
  Thread thread_;  // last: ends first
};

}  // namespace stoker::feed
