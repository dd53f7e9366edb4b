#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "stoker/base/number_text.h"
#include "stoker/cuda/check.h"
#include "stoker/cuda/device_api.h"

namespace stoker::cuda {

std::string status_text(int status) {
  const auto error = static_cast<cudaError_t>(status);
  return std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ")";
}

void forget_last_error() noexcept { cudaGetLastError(); }

DeviceScope::DeviceScope(int device) {
  call("cudaGetDevice", [&] { return cudaGetDevice(&before_); });
  if (before_ != device) call("cudaSetDevice", [&] { return cudaSetDevice(device); });
  was_changed_ = before_ != device;
}

DeviceScope::~DeviceScope() {
  if (was_changed_) check_quietly(cudaSetDevice(before_), "cudaSetDevice");
}

namespace {

cudaMemcpyKind kind_of(CopyKind kind) {
  switch (kind) {
    case CopyKind::kToHost:
      return cudaMemcpyDeviceToHost;
    case CopyKind::kOnDevice:
      return cudaMemcpyDeviceToDevice;
    case CopyKind::kToDevice:
      break;
  }
  return cudaMemcpyHostToDevice;
}

// One call for many copies came with CUDA 12.8; the driver must know it too.
bool has_batched_copies() {
#if CUDART_VERSION >= 12080
  constexpr int kFirstVersion = 12080;
  static const bool is_known = [] {
    int version = 0;
    return cudaDriverGetVersion(&version) == cudaSuccess && version >= kFirstVersion;
  }();
  return is_known;
#else
  return false;
#endif
}

// The arguments of that call.
struct CopyLists {
  std::vector<void*> targets;
  std::vector<const void*> sources;
  std::vector<std::size_t> sizes;

  void fill(std::span<const CopyRequest> requests) {
    targets.clear(), sources.clear(), sizes.clear();
    for (const CopyRequest& request : requests) {
      targets.push_back(request.to);
      sources.push_back(request.from);
      sizes.push_back(request.size_bytes);
    }
  }

  cudaError_t enqueue([[maybe_unused]] cudaStream_t stream) {
#if CUDART_VERSION >= 12080
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
    std::size_t first = 0;
#endif
#if CUDART_VERSION >= 13000
    return cudaMemcpyBatchAsync(targets.data(), sources.data(), sizes.data(), sizes.size(),
                                &attributes, &first, 1, stream);
#elif CUDART_VERSION >= 12080
    std::size_t failed = 0;
    return cudaMemcpyBatchAsync(targets.data(), const_cast<void**>(sources.data()), sizes.data(),
                                sizes.size(), &attributes, &first, 1, &failed, stream);
#else
    return cudaErrorNotSupported;
#endif
  }
};

class CudaApi final : public DeviceApi {
 public:
  void enter_thread(int device) override {
    call("cudaSetDevice", [&] { return cudaSetDevice(device); });
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    call("cudaThreadExchangeStreamCaptureMode",
         [&] { return cudaThreadExchangeStreamCaptureMode(&mode); });
  }

  void* allocate(int device, std::size_t size_bytes) override {
    const DeviceScope scope(device);
    void* memory = nullptr;
    call(
        "cudaMalloc", [&] { return cudaMalloc(&memory, size_bytes); },
        bytes_text(size_bytes) + " of memory on GPU " + std::to_string(device));
    return memory;
  }
  void free(int, void* memory) noexcept override { check_quietly(cudaFree(memory), "cudaFree"); }

  void* allocate_pinned(std::size_t size_bytes) override {
    void* memory = nullptr;
    call(
        "cudaHostAlloc", [&] { return cudaHostAlloc(&memory, size_bytes, cudaHostAllocPortable); },
        bytes_text(size_bytes) + " of page-locked host memory");
    return memory;
  }
  void free_pinned(void* memory) noexcept override {
    check_quietly(cudaFreeHost(memory), "cudaFreeHost");
  }

  void lock_pages(const void* memory, std::size_t size_bytes) override {
    call(
        "cudaHostRegister",
        [&] {
          return cudaHostRegister(const_cast<void*>(memory), size_bytes,
                                  cudaHostRegisterPortable | cudaHostRegisterReadOnly);
        },
        bytes_text(size_bytes) + " of mapped files to lock");
  }
  void unlock_pages(const void* memory) noexcept override {
    check_quietly(cudaHostUnregister(const_cast<void*>(memory)), "cudaHostUnregister");
  }

  DeviceRoom room(int device) override {
    const DeviceScope scope(device);
    std::size_t free_bytes = 0, total_bytes = 0;
    call("cudaMemGetInfo", [&] { return cudaMemGetInfo(&free_bytes, &total_bytes); });
    return {free_bytes, total_bytes};
  }

  StreamHandle create_stream(int device, StreamPriority priority) override {
    const DeviceScope scope(device);
    int lowest = 0, highest = 0;
    call("cudaDeviceGetStreamPriorityRange",
         [&] { return cudaDeviceGetStreamPriorityRange(&lowest, &highest); });
    int number = (lowest + highest) / 2;
    if (priority == StreamPriority::kLow) number = lowest;
    if (priority == StreamPriority::kHigh) number = highest;
    cudaStream_t stream = nullptr;
    call("cudaStreamCreateWithPriority",
         [&] { return cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, number); });
    return stream;
  }
  void destroy_stream(StreamHandle stream) noexcept override {
    check_quietly(cudaStreamDestroy(stream), "cudaStreamDestroy");
  }

  EventHandle create_event(int device, EventUse use) override {
    const DeviceScope scope(device);
    const unsigned flags = use == EventUse::kTiming
                               ? cudaEventBlockingSync
                               : cudaEventDisableTiming | cudaEventBlockingSync;
    cudaEvent_t event = nullptr;
    call("cudaEventCreateWithFlags", [&] { return cudaEventCreateWithFlags(&event, flags); });
    return event;
  }
  void destroy_event(EventHandle event) noexcept override {
    check_quietly(cudaEventDestroy(event), "cudaEventDestroy");
  }

  void record(EventHandle event, StreamHandle stream) override {
    call("cudaEventRecord", [&] { return cudaEventRecord(event, stream); });
  }
  void wait(StreamHandle stream, EventHandle event) override {
    call("cudaStreamWaitEvent", [&] { return cudaStreamWaitEvent(stream, event, 0); });
  }
  bool is_done(EventHandle event) override {
    cudaError_t status = cudaSuccess;
    call("cudaEventQuery", [&] {
      status = cudaEventQuery(event);
      return status == cudaErrorNotReady ? cudaSuccess : status;
    });
    return status == cudaSuccess;
  }
  void synchronize(EventHandle event) override {
    call("cudaEventSynchronize", [&] { return cudaEventSynchronize(event); });
  }
  void synchronize(StreamHandle stream) override {
    call("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream); });
  }
  double elapsed_ms(EventHandle begin, EventHandle end) override {
    float milliseconds = 0;
    call("cudaEventElapsedTime", [&] { return cudaEventElapsedTime(&milliseconds, begin, end); });
    return milliseconds;
  }

  void copy(const CopyRequest& request, StreamHandle stream) override {
    call("cudaMemcpyAsync", [&] {
      return cudaMemcpyAsync(request.to, request.from, request.size_bytes, kind_of(request.kind),
                             stream);
    });
  }
  void copy_all(std::span<const CopyRequest> requests, StreamHandle stream) override {
    if (!has_batched_copies()) {
      for (const CopyRequest& request : requests) copy(request, stream);
      return;
    }
    // Kept by each thread, so that copying allocates nothing once warm.
    thread_local CopyLists lists;
    lists.fill(requests);
    call("cudaMemcpyBatchAsync", [&] { return lists.enqueue(stream); });
  }
  void copy_to_peer(const PeerCopyRequest& request, StreamHandle stream) override {
    call("cudaMemcpyPeerAsync", [&] {
      return cudaMemcpyPeerAsync(request.to, request.to_device, request.from, request.from_device,
                                 request.size_bytes, stream);
    });
  }
  void fill_bytes(void* to, int value, std::size_t size_bytes, StreamHandle stream) override {
    call("cudaMemsetAsync", [&] { return cudaMemsetAsync(to, value, size_bytes, stream); });
  }

  bool can_reach_peer(int from_device, int to_device) override {
    if (from_device == to_device) return true;
    int can = 0;
    call("cudaDeviceCanAccessPeer",
         [&] { return cudaDeviceCanAccessPeer(&can, from_device, to_device); });
    return can != 0;
  }
  void enable_peer(int from_device, int to_device) override {
    if (from_device == to_device) return;
    const DeviceScope scope(from_device);
    call("cudaDeviceEnablePeerAccess", [&] {
      const cudaError_t status = cudaDeviceEnablePeerAccess(to_device, 0);
      if (status != cudaErrorPeerAccessAlreadyEnabled) return status;
      cudaGetLastError();  // an earlier feed enabled it: nothing to report
      return cudaSuccess;
    });
  }
};

}  // namespace

DeviceApi& system_device_api() {
  static CudaApi api;
  return api;
}

}  // namespace stoker::cuda
