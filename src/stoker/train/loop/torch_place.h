// What the learner has to know of libtorch besides tensors: its settings, its device and stream,
// its errors and its time.
#pragma once

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/AllocatorConfig.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/log.h"
#include "stoker/cuda/device_api.h"
#include "stoker/cuda/errors.h"
#include "stoker/train/errors.h"
#include "stoker/train/loop/learner.h"

namespace stoker::train {

class WarningLog final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    log(LogLevel::kDebug, "libtorch: " + warning.msg());
  }
};

[[noreturn]] inline void raise_words(const std::string& words, const ErrorCode& code) {
  raise({.code = &code, .found = words.substr(0, words.find('\n'))});
}

// Called while an exception is handled. Only some allocators of libtorch tell by type that they
// have no memory.
[[noreturn]] inline void raise_as_failure() {
  try {
    throw;
  } catch (const Failure&) {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    raise_words(error.what_without_backtrace(), kTrainMemory);
  } catch (const c10::Error& error) {
    const std::string words = error.what_without_backtrace();
    const bool is_memory = words.find("out of memory") != std::string::npos ||
                           words.find("can't allocate memory") != std::string::npos;
    raise_words(words, is_memory ? kTrainMemory : kTrainFailed);
  } catch (const std::bad_alloc&) {
    raise_words("the host has no memory left", kTrainMemory);
  } catch (const std::exception& error) {
    raise_words(error.what(), kTrainFailed);
  }
}

// Runs work that may end in an error of libtorch's.
template <class Work>
auto guarded(Work&& work) {
  WarningLog warnings;
  const c10::WarningUtils::WarningHandlerGuard handler(&warnings);
  try {
    return work();
  } catch (...) {
    raise_as_failure();
  }
}

inline at::Device device_of(const LearnerOptions& options) {
  if (options.device.is_cpu()) return at::kCPU;
  if (!at::hasCUDA()) {
    raise({.code = &cuda::kCudaNone,
           .promised = "a libtorch that can use " + options.device.text(),
           .found = torch_version() + ", which cannot"});
  }
  const int num_devices = c10::impl::VirtualGuardImpl(at::kCUDA).deviceCount();
  if (options.device.index() >= num_devices) {
    raise({.code = &cuda::kCudaIndex,
           .promised = options.device.text(),
           .found = std::to_string(num_devices) + " that libtorch can use"});
  }
  return {at::kCUDA, static_cast<at::DeviceIndex>(options.device.index())};
}

// Holds where nothing was allocated on a GPU before.
inline void bound_memory(int device, std::uint64_t max_bytes) {
  const std::uint64_t total_bytes = cuda::system_device_api().room(device).total_bytes;
  const double share =
      std::min(1.0, static_cast<double>(max_bytes) / static_cast<double>(total_bytes));
  const std::string before = c10::CachingAllocator::getAllocatorSettings();
  c10::CachingAllocator::setAllocatorSettings(
      before + (before.empty() ? "" : ",") +
      "per_process_memory_fraction:" + std::to_string(share));
}

// Where a learner computes; a GPU's stream is never the default one.
struct TorchPlace {
  at::Device device;
  std::optional<c10::Stream> stream;
};

// Settings of the whole process: those of the learner that was made last hold.
inline TorchPlace prepare_torch(const LearnerOptions& options) {
  at::set_num_threads(static_cast<int>(options.num_threads));
  at::Context& context = at::globalContext();
  // cuDNN uses TF32 unless it is forbidden there, too.
  const bool with_tf32 = options.precision != config::Precision::kFp32;
  context.setAllowTF32CuBLAS(with_tf32);
  context.setAllowTF32CuDNN(with_tf32);
  context.setDeterministicAlgorithms(options.is_deterministic, /*warn_only=*/false);
  context.setDeterministicFillUninitializedMemory(false);
  context.setDeterministicCuDNN(options.is_deterministic);
  // cuBLAS reads it when its first handle is made.
  if (options.is_deterministic) setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*replace=*/0);
  const at::Device device = device_of(options);
  if (device.is_cuda() && options.max_device_bytes > 0) {
    bound_memory(options.device.index(), options.max_device_bytes);
  }
  if (device.is_cpu()) return {device, std::nullopt};
  return {device, c10::impl::VirtualGuardImpl(device.type()).getNewStream(device)};
}

// Autocast for the forward pass alone, without its cache of weights: they change in place.
class AutocastScope {
 public:
  AutocastScope(at::DeviceType device, config::Precision precision)
      : device_(device),
        was_on_(at::autocast::is_autocast_enabled(device)),
        was_cached_(at::autocast::is_autocast_cache_enabled()),
        type_(at::autocast::get_autocast_dtype(device)) {
    const bool is_half = precision == config::Precision::kFp16;
    at::autocast::set_autocast_enabled(device, is_half || precision == config::Precision::kBf16);
    at::autocast::set_autocast_dtype(device, is_half ? at::kHalf : at::kBFloat16);
    at::autocast::set_autocast_cache_enabled(false);
  }
  ~AutocastScope() {
    at::autocast::set_autocast_enabled(device_, was_on_);
    at::autocast::set_autocast_dtype(device_, type_);
    at::autocast::set_autocast_cache_enabled(was_cached_);
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  at::DeviceType device_;
  bool was_on_, was_cached_;
  at::ScalarType type_;
};

// Adds up how long the device, or the thread of a CPU, worked in several spans.
class BusyTime {
 public:
  explicit BusyTime(std::optional<c10::Stream> stream = {}) : stream_(stream) {}

  void begin() { stream_ ? marks_.push_back(mark()) : static_cast<void>(watch_ = Stopwatch()); }
  void end() { stream_ ? marks_.push_back(mark()) : static_cast<void>(cpu_s_ += watch_.seconds()); }

  bool is_done() const { return marks_.empty() || marks_.back().query(); }
  void wait() const {
    if (!marks_.empty()) marks_.back().synchronize();
  }
  double seconds() const {
    double total_s = cpu_s_;
    for (std::size_t i = 1; i < marks_.size(); i += 2) {
      total_s += marks_[i - 1].elapsedTime(marks_[i]) * 1e-3;
    }
    return total_s;
  }

 private:
  c10::Event mark() const {
    c10::Event event(stream_->device_type(), c10::EventFlag::BACKEND_DEFAULT);
    event.record(*stream_);
    return event;
  }

  std::optional<c10::Stream> stream_;
  std::vector<c10::Event> marks_;
  Stopwatch watch_;
  double cpu_s_ = 0;
};

}  // namespace stoker::train
