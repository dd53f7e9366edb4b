// Owner of page-locked host memory: the only memory that copies run from at the bus's full speed.
#pragma once

#include <cstddef>
#include <utility>

#include "stoker/cuda/device_api.h"

namespace stoker::cuda {

// Throws GpuError when the system gives none. Portable: every GPU copies from it at full speed.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t size_bytes, DeviceApi& api = system_device_api())
      : api_(&api),
        size_bytes_(size_bytes),
        data_(size_bytes == 0 ? nullptr
                              : static_cast<std::byte*>(api.allocate_pinned(size_bytes))) {}
  PinnedBuffer(PinnedBuffer&& other) noexcept { *this = std::move(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~PinnedBuffer() {
    if (data_ != nullptr) api_->free_pinned(data_);
  }

  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }
  template <class T>
  T* as(std::size_t first_byte = 0) const {
    return reinterpret_cast<T*>(data_ + first_byte);
  }

 private:
  DeviceApi* api_ = nullptr;
  std::size_t size_bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace stoker::cuda
