// Owner and view of a CUDA stream: asynchronous calls take a StreamView, so none can forget it.
#pragma once

#include <utility>

#include "stoker/cuda/device_api.h"

namespace stoker::cuda {

// A borrowed stream, ours or the consumer's; a value.
class StreamView {
 public:
  explicit constexpr StreamView(StreamHandle handle) : handle_(handle) {}
  constexpr StreamHandle handle() const { return handle_; }
  bool operator==(const StreamView&) const = default;

 private:
  StreamHandle handle_;
};

// Does not synchronise with the default stream. Destruction does not wait for work in it.
class Stream {
 public:
  explicit Stream(int device, StreamPriority priority = StreamPriority::kNormal,
                  DeviceApi& api = system_device_api())
      : api_(&api), handle_(api.create_stream(device, priority)) {}
  Stream(Stream&& other) noexcept
      : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Stream() {
    if (handle_ != nullptr) api_->destroy_stream(handle_);
  }

  StreamView view() const { return StreamView(handle_); }
  operator StreamView() const { return view(); }
  // Blocks the calling thread until everything in the stream is done.
  void synchronize() const { api_->synchronize(handle_); }
  // For destructors. A context that is dead runs nothing any more, so its failure is no news.
  void synchronize_quietly() const noexcept;

 private:
  DeviceApi* api_;
  StreamHandle handle_;
};

}  // namespace stoker::cuda
