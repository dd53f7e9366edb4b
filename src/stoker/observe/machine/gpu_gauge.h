// Where a GPU's figures come from: the driver's library, or a test that plants a throttled card.
#pragma once

#include <functional>
#include <string>

#include "stoker/cuda/nvml.h"

namespace stoker::observe {

struct GpuGauge {
  std::function<cuda::GpuSample()> sample{};  // null: there is none, and `why_none` says why
  std::function<cuda::GpuLink()> link{};      // may take 40 ms; null: not known
  std::string uuid{};
  std::string why_none{};
};

// The GPU that CUDA counts as `device` in this process, found by the UUID that CUDA itself gives:
// NVML counts all GPUs of the machine, whatever CUDA_VISIBLE_DEVICES says.
GpuGauge open_gpu_gauge(int device);

}  // namespace stoker::observe
