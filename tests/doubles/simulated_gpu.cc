#include "tests/doubles/simulated_gpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "stoker/base/invariant.h"
#include "stoker/cuda/check.h"
#include "stoker/cuda/errors.h"

namespace stoker {
SimulatedGpu::SimulatedGpu(const SimulatedGpuOptions& options)
    : options_(options), draws_(options.seed) {}

SimulatedGpu::~SimulatedGpu() = default;

void SimulatedGpu::settle() {
  run_until([this]() STOKER_NO_THREAD_CHECK {
    return std::all_of(streams_.begin(), streams_.end(),
                       [](const auto& each) { return each.second->operations.empty(); });
  });
}

void SimulatedGpu::enter_thread(int device) {
  enter("enter_thread", [&] { return device < options_.num_devices ? 0 : 101; });
}

cuda::StreamHandle SimulatedGpu::create_stream(int device, cuda::StreamPriority) {
  ++num_made_;
  cuda::StreamHandle handle = nullptr;
  enter("cudaStreamCreate", [&] {
    if (device >= options_.num_devices) return kStatusInvalidDevice;
    const Lock lock(mutex_);
    auto stream = std::make_unique<Stream>();
    stream->number = num_streams_++;
    stream->device = device;
    handle = reinterpret_cast<cuda::StreamHandle>(stream.get());
    streams_[handle] = std::move(stream);
    return 0;
  });
  return handle;
}

void SimulatedGpu::destroy_stream(cuda::StreamHandle stream) noexcept {
  const Lock lock(mutex_);
  // As with CUDA, work that is already in the stream is done first.
  run_until([&]() STOKER_NO_THREAD_CHECK { return streams_.at(stream)->operations.empty(); });
  streams_.erase(stream);
}

cuda::EventHandle SimulatedGpu::create_event(int device, cuda::EventUse) {
  ++num_made_;
  cuda::EventHandle handle = nullptr;
  enter("cudaEventCreate", [&] {
    const Lock lock(mutex_);
    auto event = std::make_shared<Event>();
    event->device = device;
    handle = reinterpret_cast<cuda::EventHandle>(event.get());
    events_[handle] = std::move(event);
    return 0;
  });
  return handle;
}

void SimulatedGpu::destroy_event(cuda::EventHandle event) noexcept {
  const Lock lock(mutex_);
  events_.erase(event);
}

std::shared_ptr<SimulatedGpu::Event> SimulatedGpu::event_of(cuda::EventHandle handle) {
  return events_.at(handle);
}

void SimulatedGpu::put(cuda::StreamHandle stream, Operation operation) {
  const auto found = streams_.find(stream);
  check_invariant(found != streams_.end(), "a stream that is alive");
  if (!is_dead_) found->second->operations.push_back(std::move(operation));
}

void SimulatedGpu::enqueue(std::string_view name, cuda::StreamHandle stream,
                           std::function<void()> work) {
  enter(name, [&] {
    const Lock lock(mutex_);
    put(stream, {.work = std::move(work), .mark = nullptr});
    return 0;
  });
}

void SimulatedGpu::launch(cuda::StreamView stream, std::function<void()> work) {
  enqueue("launch", stream.handle(), std::move(work));
}

void SimulatedGpu::record(cuda::EventHandle event, cuda::StreamHandle stream) {
  enter("cudaEventRecord", [&] {
    const Lock lock(mutex_);
    const std::shared_ptr<Event> found = event_of(event);
    // As with CUDA: another device's stream may wait for the event but not record it.
    if (found->device != streams_.at(stream)->device) return kStatusInvalidHandle;
    found->recorded_in = streams_.at(stream)->number;
    found->is_reached = std::make_shared<bool>(false);
    put(stream, {.work = {}, .mark = found->is_reached});
    return 0;
  });
}

void SimulatedGpu::wait(cuda::StreamHandle stream, cuda::EventHandle event) {
  enter("cudaStreamWaitEvent", [&] {
    const Lock lock(mutex_);
    const std::shared_ptr<Event> found = event_of(event);
    const bool is_forgotten = found->recorded_in == forgotten_.recorded &&
                              streams_.at(stream)->number == forgotten_.waiting;
    if (is_forgotten || found->is_reached == nullptr) return 0;
    put(stream, {.work = {}, .mark = found->is_reached, .is_wait = true});
    return 0;
  });
}

bool SimulatedGpu::can_run(const Stream& stream) const {
  if (stream.operations.empty()) return false;
  const Operation& first = stream.operations.front();
  return !first.is_wait || *first.mark;
}

void SimulatedGpu::run_first(Stream& stream) {
  Operation first = std::move(stream.operations.front());
  stream.operations.pop_front();
  if (first.work) first.work();
  if (first.mark != nullptr) *first.mark = true;
}

bool SimulatedGpu::run_until(const std::function<bool()>& is_met) {
  while (!is_met()) {
    std::vector<Stream*> able;
    for (const auto& [handle, stream] : streams_) {
      if (can_run(*stream)) able.push_back(stream.get());
    }
    if (able.empty()) return false;
    Stream& chosen = *able[draws_() % able.size()];
    // Bursts: one stream may get far ahead of the others.
    for (std::uint64_t left = draws_() % 8 + 1; left > 0 && can_run(chosen) && !is_met(); --left) {
      run_first(chosen);
    }
  }
  return true;
}

bool SimulatedGpu::is_done(cuda::EventHandle event) {
  bool is_reached = false;
  enter("cudaEventQuery", [&] {
    const Lock lock(mutex_);
    const std::shared_ptr<Event> found = event_of(event);
    if (draws_() % 4 == 0) {  // a device gets on by itself, now and then
      std::uint64_t left = draws_() % 4;
      run_until([&] { return left-- == 0; });
    }
    is_reached = !has_host_waits_ || found->is_reached == nullptr || *found->is_reached;
    return 0;
  });
  return is_reached;
}

void SimulatedGpu::synchronize(cuda::EventHandle event) {
  enter("cudaEventSynchronize", [&] {
    const Lock lock(mutex_);
    const std::shared_ptr<bool> mark = event_of(event)->is_reached;
    if (!has_host_waits_ || mark == nullptr) return 0;
    const bool is_met = run_until([&] { return *mark; });
    check_invariant(is_met || is_dead_, "an event that can be reached");
    return 0;
  });
}

void SimulatedGpu::synchronize(cuda::StreamHandle stream) {
  enter("cudaStreamSynchronize", [&] {
    const Lock lock(mutex_);
    const Stream& waited = *streams_.at(stream);
    check_invariant(run_until([&] { return waited.operations.empty(); }), "a stream that can end");
    return 0;
  });
}

double SimulatedGpu::elapsed_ms(cuda::EventHandle, cuda::EventHandle) { return 1.0; }

void SimulatedGpu::copy(const cuda::CopyRequest& request, cuda::StreamHandle stream) {
  ++num_copy_calls_;
  enqueue("cudaMemcpyAsync", stream,
          [request] { std::memcpy(request.to, request.from, request.size_bytes); });
}

void SimulatedGpu::copy_all(std::span<const cuda::CopyRequest> requests,
                            cuda::StreamHandle stream) {
  ++num_copy_calls_;
  enqueue("cudaMemcpyBatchAsync", stream,
          [all = std::vector<cuda::CopyRequest>(requests.begin(), requests.end())] {
            for (const cuda::CopyRequest& each : all)
              std::memcpy(each.to, each.from, each.size_bytes);
          });
}

void SimulatedGpu::copy_to_peer(const cuda::PeerCopyRequest& request, cuda::StreamHandle stream) {
  enqueue("cudaMemcpyPeerAsync", stream,
          [request] { std::memcpy(request.to, request.from, request.size_bytes); });
}

void SimulatedGpu::fill_bytes(void* to, int value, std::size_t size_bytes,
                              cuda::StreamHandle stream) {
  enqueue("cudaMemsetAsync", stream, [=] { std::memset(to, value, size_bytes); });
}

bool SimulatedGpu::can_reach_peer(int from_device, int to_device) {
  return from_device == to_device || options_.has_peer_link;
}

void SimulatedGpu::enable_peer(int, int) {
  enter("cudaDeviceEnablePeerAccess", [] { return 0; });
}

}  // namespace stoker
