// Owner of device memory: one plain allocation, taken at construction and kept to the end.
#pragma once

#include <cstddef>
#include <utility>

#include "stoker/cuda/device_api.h"
#include "stoker/cuda/stream.h"

namespace stoker::cuda {

// Throws GpuError E-CUDA-MEMORY with the size asked for. Freeing waits for nothing: the owner's
// owner must know that no stream uses it any more.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(int device, std::size_t size_bytes, DeviceApi& api = system_device_api())
      : api_(&api),
        device_(device),
        size_bytes_(size_bytes),
        data_(size_bytes == 0 ? nullptr
                              : static_cast<std::byte*>(api.allocate(device, size_bytes))) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(device_, other.device_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~DeviceBuffer() {
    if (data_ != nullptr) api_->free(device_, data_);
  }

  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }
  int device() const { return device_; }
  template <class T>
  T* as(std::size_t first_byte = 0) const {
    return reinterpret_cast<T*>(data_ + first_byte);
  }

 private:
  DeviceApi* api_ = nullptr;
  int device_ = 0;
  std::size_t size_bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace stoker::cuda
