// An optimiser update of flat buffers in device memory by four kernels: what FlatUpdate::apply()
// does in a dozen operators, and the loss scale, the figures and the shadow besides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/cuda/stream.h"
#include "stoker/train/loop/device/step_ledger.h"

namespace stoker::train {

enum class ShadowType { kNone, kBf16, kF16 };

// All in device memory; `num_values` of each, a multiple of 64.
struct FlatBuffers {
  float* parameters = nullptr;
  float* gradients = nullptr;
  float* moments1 = nullptr;
  float* moments2 = nullptr;
  float* average = nullptr;
  void* shadow = nullptr;  // the parameters in another type
  ShadowType shadow_type = ShadowType::kNone;
  std::size_t num_values = 0;
  float* num_updates = nullptr;  // scalar
};

// What a loss was multiplied by before its gradient; no pointers: by nothing.
struct LossScale {
  float* scale = nullptr;
  std::int32_t* age = nullptr;  // updates since it last changed
  std::int32_t growth_interval = 0;
};

// As in UpdateRule.
struct FlatRule {
  bool is_decoupled = true;
  double learning_rate = 0;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double weight_decay = 0;
  double clip_norm = 0;
  double ema_decay = 0;
};

// In page-locked memory of the host; whole when the stream has come past the update.
struct DeviceFigures {
  double losses[3];  // duration, prior, flow
  double gradient_norm;
  double is_skipped;
  std::uint64_t began_ns;
  std::uint64_t ended_ns;
  std::uint64_t busy_ns;
};

// Device memory that the kernels pass results through.
std::size_t update_scratch_bytes();

struct FlatUpdateJob {
  FlatBuffers flat{};
  FlatRule rule{};
  LossScale scale{};
  StepLedger* ledger = nullptr;  // sums in; zeros out, for the next batches
  void* scratch = nullptr;
};

// The sum of squares runs in a fixed order. Asynchronous. Throws GpuError.
void update_flat(const FlatUpdateJob& job, DeviceFigures* figures, cuda::StreamView stream);

}  // namespace stoker::train
