// A GPU made of host memory: streams run late and in a hostile order, so that a missing wait shows.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "stoker/cuda/check.h"
#include "stoker/cuda/device_api.h"
#include "stoker/cuda/errors.h"
#include "stoker/cuda/stream.h"

namespace stoker {

struct SimulatedGpuOptions {
  int num_devices = 1;
  std::uint64_t memory_bytes = std::uint64_t{1} << 30U;  // of each device
  bool has_peer_link = true;
  bool has_pinned = true;
  std::uint64_t seed = 1;
};

// Work waits in its stream until somebody synchronises; then streams advance in an order drawn from
// the seed, and those nobody waits for may stay behind. Every call goes through cuda::call, so
// planted faults work. Thread-safe.
class SimulatedGpu final : public cuda::DeviceApi {
 public:
  explicit SimulatedGpu(const SimulatedGpuOptions& options = {});
  ~SimulatedGpu() override;

  // Leaves out every wait of stream `waiting` for work of stream `recorded`, as a bug would.
  // Streams are counted from 0 as they are created.
  struct Edge {
    int recorded = -1;
    int waiting = -1;
  };
  void forget_edge(const Edge& edge) { forgotten_ = edge; }
  // Leaves out every wait of the host for an event.
  void forget_host_waits() { has_host_waits_ = false; }
  std::uint64_t allocated_bytes() const;  // on all devices, now
  std::size_t num_handles() const;        // streams, events, pinned memory and locked pages alive
  // Allocations and creations so far.
  std::uint64_t num_made() const { return num_made_; }
  // Calls of copy() and copy_all() so far.
  std::uint64_t num_copy_calls() const { return num_copy_calls_; }
  // Runs `work` in stream order: a kernel.
  void launch(cuda::StreamView stream, std::function<void()> work);

  void enter_thread(int device) override;
  void* allocate(int device, std::size_t size_bytes) override;
  void free(int device, void* memory) noexcept override;
  void* allocate_pinned(std::size_t size_bytes) override;
  void free_pinned(void* memory) noexcept override;
  void lock_pages(const void* memory, std::size_t size_bytes) override;
  void unlock_pages(const void* memory) noexcept override;
  cuda::DeviceRoom room(int device) override;
  cuda::StreamHandle create_stream(int device, cuda::StreamPriority priority) override;
  void destroy_stream(cuda::StreamHandle stream) noexcept override;
  cuda::EventHandle create_event(int device, cuda::EventUse use) override;
  void destroy_event(cuda::EventHandle event) noexcept override;
  void record(cuda::EventHandle event, cuda::StreamHandle stream) override;
  void wait(cuda::StreamHandle stream, cuda::EventHandle event) override;
  bool is_done(cuda::EventHandle event) override;
  void synchronize(cuda::EventHandle event) override;
  void synchronize(cuda::StreamHandle stream) override;
  double elapsed_ms(cuda::EventHandle begin, cuda::EventHandle end) override;
  void copy(const cuda::CopyRequest& request, cuda::StreamHandle stream) override;
  void copy_all(std::span<const cuda::CopyRequest> requests, cuda::StreamHandle stream) override;
  void copy_to_peer(const cuda::PeerCopyRequest& request, cuda::StreamHandle stream) override;
  void fill_bytes(void* to, int value, std::size_t size_bytes, cuda::StreamHandle stream) override;
  bool can_reach_peer(int from_device, int to_device) override;
  void enable_peer(int from_device, int to_device) override;

 private:
  static constexpr int kStatusInvalidDevice = 101;
  static constexpr int kStatusInvalidHandle = 400;

  struct Event {
    // Whether a stream came past the last record; null: never recorded. Who waits for an earlier
    // one holds on to it: recording again, in whichever stream, changes nothing for them.
    std::shared_ptr<bool> is_reached;
    int recorded_in = -1;
    int device = 0;
  };
  struct Operation {
    std::function<void()> work;
    std::shared_ptr<bool> mark;  // to set, or to wait for
    bool is_wait = false;
  };
  struct Stream {
    int number = 0;
    int device = 0;
    std::deque<Operation> operations;
  };

  // As cuda::call, and notices when the context dies: pending work is then never done.
  template <class Call>
  void enter(std::string_view name, Call&& make, std::string_view detail = {});
  // What freeing memory does: waits for everything.
  void settle() STOKER_REQUIRES(mutex_);
  void enqueue(std::string_view name, cuda::StreamHandle stream, std::function<void()> work);
  void put(cuda::StreamHandle stream, Operation operation) STOKER_REQUIRES(mutex_);
  bool can_run(const Stream& stream) const STOKER_REQUIRES(mutex_);
  void run_first(Stream& stream) STOKER_REQUIRES(mutex_);
  // Runs streams in a drawn order until `is_met`; false when nothing can run any more.
  bool run_until(const std::function<bool()>& is_met) STOKER_REQUIRES(mutex_);
  std::shared_ptr<Event> event_of(cuda::EventHandle handle) STOKER_REQUIRES(mutex_);

  const SimulatedGpuOptions options_;
  std::atomic<std::uint64_t> num_made_{0};
  std::atomic<std::uint64_t> num_copy_calls_{0};
  Edge forgotten_;
  bool has_host_waits_ = true;
  mutable Mutex mutex_;
  std::mt19937_64 draws_ STOKER_GUARDED_BY(mutex_);
  int num_streams_ STOKER_GUARDED_BY(mutex_) = 0;
  bool is_dead_ STOKER_GUARDED_BY(mutex_) = false;
  std::map<cuda::StreamHandle, std::unique_ptr<Stream>> streams_ STOKER_GUARDED_BY(mutex_);
  std::map<cuda::EventHandle, std::shared_ptr<Event>> events_ STOKER_GUARDED_BY(mutex_);
  std::map<void*, std::pair<int, std::size_t>> memory_ STOKER_GUARDED_BY(mutex_);
  std::map<int, std::uint64_t> used_bytes_ STOKER_GUARDED_BY(mutex_);
  std::set<void*> pinned_ STOKER_GUARDED_BY(mutex_);
};

template <class Call>
void SimulatedGpu::enter(std::string_view name, Call&& make, std::string_view detail) {
  try {
    cuda::call(name, std::forward<Call>(make), detail);
  } catch (const GpuError& failure) {
    if (failure.error().code != &cuda::kCudaSticky) throw;
    const Lock lock(mutex_);
    is_dead_ = true;
    for (const auto& [handle, stream] : streams_) stream->operations.clear();
    throw;
  }
}

}  // namespace stoker
