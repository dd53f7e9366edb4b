// Arrays on a GPU and the time that calls in a stream take, for benchmarks.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/event.h"
#include "stoker/cuda/stream.h"
#include "stoker/observe/statistics.h"

namespace stoker::bench {

// Copies wait for their end: these are not timed.
template <class T>
class DeviceArray {
 public:
  DeviceArray(int device, std::size_t count)
      : count_(count), memory_(device, count * sizeof(T)), stream_(device) {}
  DeviceArray(int device, std::span<const T> values) : DeviceArray(device, values.size()) {
    copy(memory_.data(), values.data(), cuda::CopyKind::kToDevice);
  }
  DeviceArray(int device, const std::vector<T>& values)
      : DeviceArray(device, std::span<const T>(values)) {}

  T* data() const { return memory_.template as<T>(); }
  std::vector<T> values() const {
    std::vector<T> values(count_);
    copy(values.data(), memory_.data(), cuda::CopyKind::kToHost);
    return values;
  }

 private:
  void copy(void* to, const void* from, cuda::CopyKind kind) const {
    cuda::system_device_api().copy({to, from, count_ * sizeof(T), kind}, stream_.view().handle());
    stream_.synchronize();
  }

  std::size_t count_;
  cuda::DeviceBuffer memory_;
  cuda::Stream stream_;
};

// The median over repeats, each between two events of the stream; one call before them warms up.
template <class Call>
double median_us(const cuda::Stream& stream, int device, std::size_t num_repeats, Call&& call) {
  call();
  std::vector<double> times_us;
  for (std::size_t i = 0; i < num_repeats; ++i) {
    cuda::Event begin(device, cuda::EventUse::kTiming), end(device, cuda::EventUse::kTiming);
    begin.record(stream);
    call();
    end.record(stream);
    end.synchronize();
    times_us.push_back(end.ms_since(begin) * 1e3);
  }
  return observe::median_of(std::move(times_us));
}

}  // namespace stoker::bench
