// Owner of a CUDA event: a mark in one stream that another stream or the host waits for.
#pragma once

#include <utility>

#include "stoker/cuda/device_api.h"
#include "stoker/cuda/stream.h"

namespace stoker::cuda {

// An event never recorded counts as done.
class Event {
 public:
  explicit Event(int device, EventUse use = EventUse::kOrder, DeviceApi& api = system_device_api())
      : api_(&api), handle_(api.create_event(device, use)) {}
  Event(Event&& other) noexcept
      : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Event() {
    if (handle_ != nullptr) api_->destroy_event(handle_);
  }

  EventHandle handle() const { return handle_; }
  void record(StreamView stream) { api_->record(handle_, stream.handle()); }
  // What `stream` gets from now on runs after the recorded work; the host goes on at once.
  void hold_back(StreamView stream) const { api_->wait(stream.handle(), handle_); }
  bool is_done() const { return api_->is_done(handle_); }
  void synchronize() const { api_->synchronize(handle_); }
  void synchronize_quietly() const noexcept;  // for destructors, as a Stream's
  // Both with EventUse::kTiming, both done.
  double ms_since(const Event& begin) const { return api_->elapsed_ms(begin.handle_, handle_); }

 private:
  DeviceApi* api_;
  EventHandle handle_;
};

}  // namespace stoker::cuda
