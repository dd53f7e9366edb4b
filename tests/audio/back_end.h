// Runs one suite of tests on the CPU and on a GPU: the parameter, and device memory with guards.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/stream.h"
#include "tests/doubles/gpu_present.h"

namespace stoker::audio {

enum class BackEnd { kCpu, kCuda };

inline void PrintTo(BackEnd back_end, std::ostream* out) {
  *out << (back_end == BackEnd::kCpu ? "CPU" : "GPU");
}

inline std::string name_of(const testing::TestParamInfo<BackEnd>& row) {
  return row.param == BackEnd::kCpu ? "Cpu" : "Cuda";
}

// Skips the GPU's half of a suite, with the driver's words, where there is no GPU.
class BackEndTest : public testing::TestWithParam<BackEnd> {
 protected:
  void SetUp() override {
    if (GetParam() == BackEnd::kCuda) cuda::skip_without_gpu();
  }
  bool is_on_gpu() const { return GetParam() == BackEnd::kCuda; }
};

// An array on the first GPU between two guards, which no kernel may touch.
template <class T>
class GuardedArray {
 public:
  explicit GuardedArray(std::size_t count)
      : count_(count), memory_(0, count * sizeof(T) + 2 * kGuardBytes) {
    cuda::system_device_api().fill_bytes(memory_.data(), kGuard, memory_.size_bytes(), handle());
    stream_.synchronize();
  }
  explicit GuardedArray(std::span<const T> values) : GuardedArray(values.size()) {
    if (!values.empty()) copy(data(), values.data(), cuda::CopyKind::kToDevice);
  }

  T* data() const { return memory_.as<T>(kGuardBytes); }
  std::vector<T> values() const {
    std::vector<T> values(count_);
    if (count_ > 0) copy(values.data(), data(), cuda::CopyKind::kToHost);
    return values;
  }
  bool has_whole_guards() const {
    std::vector<unsigned char> bytes(memory_.size_bytes());
    cuda::system_device_api().copy(
        {bytes.data(), memory_.data(), bytes.size(), cuda::CopyKind::kToHost}, handle());
    stream_.synchronize();
    const auto is_guard = [](unsigned char byte) { return byte == kGuard; };
    return std::all_of(bytes.begin(), bytes.begin() + kGuardBytes, is_guard) &&
           std::all_of(bytes.end() - kGuardBytes, bytes.end(), is_guard);
  }

 private:
  static constexpr std::ptrdiff_t kGuardBytes = 256;
  static constexpr unsigned char kGuard = 0xA5;

  cuda::StreamHandle handle() const { return stream_.view().handle(); }
  void copy(void* to, const void* from, cuda::CopyKind kind) const {
    cuda::system_device_api().copy({to, from, count_ * sizeof(T), kind}, handle());
    stream_.synchronize();
  }

  std::size_t count_;
  cuda::DeviceBuffer memory_;
  cuda::Stream stream_{0};
};

}  // namespace stoker::audio
