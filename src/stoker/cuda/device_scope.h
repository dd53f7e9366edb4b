// Makes a GPU current for a few calls and gives the caller's back: trainers keep their own.
#pragma once

namespace stoker::cuda {

// For launches and attributes of kernels, which go to the current device. Throws GpuError.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
  bool was_changed_ = false;
};

}  // namespace stoker::cuda
