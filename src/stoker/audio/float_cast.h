// Values of a batch from one number format to another: one operation, the same bytes on the CPU and
// on a GPU.
#pragma once

#include <cstddef>

#include "stoker/audio/float16.h"
#include "stoker/config/mel_dtype.h"
#include "stoker/cuda/stream.h"

namespace stoker::audio {

// Rounds to nearest even. f16 saturates at +-65504 instead of becoming infinite; what is not a
// number stays so. Between f16 and bf16 through f32.
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
// launch; fastest where both are at multiples of 16 bytes. Throws GpuError.
void cast_floats(const FloatCast& cast, cuda::StreamView stream);

// For the back ends: calls run(From{}, To{}) with the two types.
template <class Run>
constexpr void with_types(config::MelDtype from, config::MelDtype to, Run&& run) {
  const auto with_from = [&](auto from_value) {
    if (to == config::MelDtype::kF32) run(from_value, float{});
    if (to == config::MelDtype::kF16) run(from_value, F16{});
    if (to == config::MelDtype::kBf16) run(from_value, Bf16{});
  };
  if (from == config::MelDtype::kF32) with_from(float{});
  if (from == config::MelDtype::kF16) with_from(F16{});
  if (from == config::MelDtype::kBf16) with_from(Bf16{});
}

}  // namespace stoker::audio
