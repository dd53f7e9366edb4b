// What the learner has to know of libtorch besides tensors: its settings, its device and stream,
// its errors and its time.
#pragma once

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/AllocatorConfig.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>

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

// As libtorch is told how much of a GPU it may hold: 0 … 1.
inline double share_of_device(int device, std::uint64_t max_bytes) {
  const std::uint64_t total_bytes = cuda::system_device_api().room(device).total_bytes;
  return std::min(1.0, static_cast<double>(max_bytes) / static_cast<double>(total_bytes));
}

// Holds where nothing was allocated on a GPU before.
inline void bound_memory(int device, std::uint64_t max_bytes) {
  const double share = share_of_device(device, max_bytes);
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

// When a thread began and ended spans of work, and how long they were together.
class BusyTime {
 public:
  void begin() {
    span_s_ = now_s();
    if (!began_s_) began_s_ = span_s_;
  }
  void end() {
    ended_s_ = now_s();
    busy_s_ += ended_s_ - span_s_;
  }
  double began_s() const { return began_s_.value_or(0); }
  double ended_s() const { return ended_s_; }
  double busy_s() const { return busy_s_; }

 private:
  static double now_s() { return std::chrono::duration<double>(system_clock().now()).count(); }

  std::optional<double> began_s_;
  double span_s_ = 0;
  double ended_s_ = 0;
  double busy_s_ = 0;
};

}  // namespace stoker::train
