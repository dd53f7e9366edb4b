// Values of a batch from one number format to another: one operation, the same bytes on the CPU and
// on a GPU.
#pragma once

#include <cstddef>

#include "stoker/config/mel_dtype.h"
#include "stoker/cuda/stream.h"

namespace stoker::audio {

// Rounds to nearest even. f16 saturates at +-65504 instead of becoming infinite; what is not a
// number stays so. Between f16 and bf16 by way of f32.
struct FloatCast {
  const void* from = nullptr;
  config::MelDtype from_type = config::MelDtype::kF32;
  void* to = nullptr;  // does not overlap `from`
  config::MelDtype to_type = config::MelDtype::kF16;
  std::size_t count = 0;
};

// Pointers of the host.
void cast_floats(const FloatCast& cast) noexcept;

// Pointers of the device that the stream belongs to, made current by the caller. Asynchronous, one
// launch; fastest where both lie at multiples of 16 bytes. Throws GpuError.
void cast_floats(const FloatCast& cast, cuda::StreamView stream);

}  // namespace stoker::audio
