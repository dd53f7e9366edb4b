// The engine: workers fill numbered slots, the consumer gets them in order, whatever the workers'
// number and speed. Knows nothing of audio.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/thread/sync.h"
#include "stoker/pipeline/slot_filler.h"

namespace stoker::pipeline {

struct PipelineOptions {
  unsigned num_workers = 1;   // 0: next() fills in the caller's thread
  unsigned max_workers = 64;  // what set_num_workers may ask for
  unsigned depth = 2;         // slots ready before the consumer asks, at most
  unsigned max_depth = 64;    // what set_depth may ask for
  std::uint64_t first_sequence = 0;
  std::chrono::nanoseconds stall_limit = std::chrono::seconds(60);  // 0: no watchdog
  // How long destruction waits for a worker before it leaves it behind; 0: as long as it takes.
  std::chrono::nanoseconds end_limit = std::chrono::milliseconds(1500);
  const Clock* clock = &system_clock();
};

struct StageTime {
  std::string_view name;
  double busy_s = 0;
};

struct PipelineStats {
  std::vector<StageTime> stages;
  std::vector<std::uint64_t> fills;  // by worker; index 0 also counts the caller's thread
  std::uint64_t num_delivered = 0;
  unsigned num_ready = 0;              // in order, not yet delivered
  unsigned num_asleep = 0;             // workers without anything to do
  double consumer_wait_s = 0;          // high: the workers are the bottleneck
  std::uint64_t num_stage_stalls = 0;  // stages without a step for a sixth of the stall limit

  // Of a pipeline that came after this one, with the same stages.
  PipelineStats& operator+=(const PipelineStats& later);
};

enum class Ending { kNone, kEnd, kCancelled };

class PipelineCore;

// A filled slot in the consumer's hands; destroying it gives the slot back. May outlive the
// Pipeline. Movable between threads.
class SlotLease {
 public:
  SlotLease() = default;
  SlotLease(std::shared_ptr<PipelineCore> core, const Ticket& ticket);
  SlotLease(SlotLease&& other) noexcept;
  SlotLease& operator=(SlotLease&& other) noexcept;
  ~SlotLease();

  explicit operator bool() const { return core_ != nullptr; }
  std::uint32_t slot() const { return ticket_.slot; }
  std::uint64_t sequence() const { return ticket_.sequence; }
  bool is_late() const { return ticket_.is_late; }  // next() had to wait for it
  void release() noexcept;

 private:
  std::shared_ptr<PipelineCore> core_;
  Ticket ticket_;
};

// One consumer thread at a time; leases may be released from any thread.
//
// At most depth + 1 slots are filled or ready at once and one more may be leased without slowing
// the workers, so slots 0 … depth + 1 are in use. The first eight workers share the
// work evenly, those behind them help when these are busy.
// Destruction from any state takes at most two seconds: a worker that hangs in the kernel is left
// behind, with everything it uses kept alive.
class Pipeline {
 public:
  // Throws MemoryError where a thread cannot be started; those that run already end first.
  Pipeline(std::shared_ptr<SlotFiller> filler, const PipelineOptions& options);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // The next slot in order. Empty at the end, after cancel() and when `stop` is requested
  // (ending() says which). Throws the first failure in order: whatever was filled before it is
  // delivered first, and every later call throws it again.
  // With a `pause` a wait is interrupted by it; empty where it ends the wait, and then the next
  // call goes on.
  SlotLease next(const std::stop_token& stop = {}, const WaitPause* pause = nullptr);
  Ending ending() const;
  // The slot that next() would give without waiting, for a consumer that brings its memory near.
  std::optional<std::uint32_t> peek() const;
  // Filled slots that are not delivered yet, in any order. For the consumer.
  unsigned num_behind() const;

  // next() returns empty from now on, also one that waits. From any thread.
  void cancel();

  // Take effect with the next slot; clipped to the maxima. Not from two threads at once, but also
  // while another one is in next(). Where a thread cannot be started, MemoryError is thrown and the
  // pipeline goes on with those there are.
  void set_num_workers(unsigned num_workers);
  void set_depth(unsigned depth);
  unsigned num_workers() const;

  PipelineStats stats() const;
  // "slot 0 leased (12), slot 1 ready (13), slot 2 worker 0 in decode of a.wav (14), slot 3 free"
  std::string debug_string() const;

 private:
  void start_workers(unsigned num_workers);
  void end_workers();

  std::shared_ptr<PipelineCore> core_;
  std::vector<Thread> workers_;
  Thread watchdog_;
};

}  // namespace stoker::pipeline
