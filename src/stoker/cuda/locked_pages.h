// Owner of a lock on mapped pages: copies from them run at the bus's full speed.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "stoker/cuda/device_api.h"

namespace stoker::cuda {

// Throws GpuError when the system refuses. The mapping must outlive it, and copies from it must be
// done before.
class LockedPages {
 public:
  explicit LockedPages(std::span<const std::byte> pages, DeviceApi& api = system_device_api())
      : api_(&api), pages_(pages.data()) {
    api.lock_pages(pages.data(), pages.size());
  }
  LockedPages(LockedPages&& other) noexcept
      : api_(other.api_), pages_(std::exchange(other.pages_, nullptr)) {}
  LockedPages& operator=(LockedPages&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(pages_, other.pages_);
    return *this;
  }
  ~LockedPages() {
    if (pages_ != nullptr) api_->unlock_pages(pages_);
  }

 private:
  DeviceApi* api_;
  const std::byte* pages_;
};

}  // namespace stoker::cuda
