// The seam to the CUDA runtime: owners and the feed call this, so that tests can simulate a GPU on
// a machine that has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

struct CUstream_st;
struct CUevent_st;

namespace stoker::cuda {

// The same types as cudaStream_t and cudaEvent_t, without CUDA's headers: a handle from PyTorch or
// from plain CUDA fits.
using StreamHandle = CUstream_st*;
using EventHandle = CUevent_st*;

enum class StreamPriority { kLow, kNormal, kHigh };
enum class CopyKind { kToDevice, kToHost, kOnDevice };
enum class EventUse { kOrder, kTiming };

struct CopyRequest {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t size_bytes = 0;
  CopyKind kind = CopyKind::kToDevice;
};

struct PeerCopyRequest {
  void* to = nullptr;
  int to_device = 0;
  const void* from = nullptr;
  int from_device = 0;
  std::size_t size_bytes = 0;
};

struct DeviceRoom {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};

// Thread-safe. Calls throw GpuError; the freeing ones log instead. Nothing asynchronous without a
// stream, never the default stream, no managed memory, no device-wide synchronise.
class DeviceApi {
 public:
  virtual ~DeviceApi() = default;

  // Makes the device current for launches of the calling thread, and keeps graphs that other
  // threads capture meanwhile from being broken by this thread's calls.
  virtual void enter_thread(int device) = 0;

  virtual void* allocate(int device, std::size_t size_bytes) = 0;
  virtual void free(int device, void* memory) noexcept = 0;
  virtual void* allocate_pinned(std::size_t size_bytes) = 0;
  virtual void free_pinned(void* memory) noexcept = 0;
  // Pages that are only read, of memory that is somebody else's: copies from it run at full speed.
  virtual void lock_pages(const void* memory, std::size_t size_bytes) = 0;
  virtual void unlock_pages(const void* memory) noexcept = 0;
  virtual DeviceRoom room(int device) = 0;

  virtual StreamHandle create_stream(int device, StreamPriority priority) = 0;
  virtual void destroy_stream(StreamHandle stream) noexcept = 0;
  virtual EventHandle create_event(int device, EventUse use) = 0;
  virtual void destroy_event(EventHandle event) noexcept = 0;

  virtual void record(EventHandle event, StreamHandle stream) = 0;
  virtual void wait(StreamHandle stream, EventHandle event) = 0;  // on the device, not here
  virtual bool is_done(EventHandle event) = 0;
  virtual void synchronize(EventHandle event) = 0;  // blocks this thread
  virtual void synchronize(StreamHandle stream) = 0;
  virtual double elapsed_ms(EventHandle begin, EventHandle end) = 0;

  virtual void copy(const CopyRequest& request, StreamHandle stream) = 0;
  // All of them, in any order, with about the cost of one.
  virtual void copy_all(std::span<const CopyRequest> requests, StreamHandle stream) = 0;
  virtual void copy_to_peer(const PeerCopyRequest& request, StreamHandle stream) = 0;
  virtual void fill_bytes(void* to, int value, std::size_t size_bytes, StreamHandle stream) = 0;

  virtual bool can_reach_peer(int from_device, int to_device) = 0;
  virtual void enable_peer(int from_device, int to_device) = 0;  // twice is no error
};

// The real one; without CUDA every call of it throws E-CUDA-NONE.
DeviceApi& system_device_api();

// Makes a GPU current for launches and attributes of kernels, which go to the current device, and
// gives the caller's back: trainers keep their own. Throws GpuError.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  [[maybe_unused]] int before_ = 0;  // without CUDA nothing reads it
  bool was_changed_ = false;
};

}  // namespace stoker::cuda
