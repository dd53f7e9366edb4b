#include <cstdint>

#include "stoker/audio/float_cast.h"
#include "stoker/audio/launch.cuh"

namespace stoker::audio {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = 8;  // 16 bytes of the narrow types

template <class T>
struct alignas(16) Eight {
  T values[kPerThread];
};

enum class Access { kVector, kSingle };

template <class From, class To, Access kAccess>
__global__ void cast_kernel(const From* from, To* to, std::size_t count) {
  const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::size_t first = thread * kPerThread;
  if (kAccess == Access::kVector && first + kPerThread <= count) {
    const auto in = reinterpret_cast<const Eight<From>*>(from)[thread];
    Eight<To> out;
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) out.values[i] = narrow<To>(wide(in.values[i]));
    reinterpret_cast<Eight<To>*>(to)[thread] = out;
    return;
  }
  const std::size_t end = first + kPerThread < count ? first + kPerThread : count;
  for (std::size_t i = first; i < end; ++i) to[i] = narrow<To>(wide(from[i]));
}

bool is_aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

}  // namespace

void cast_floats(const FloatCast& cast, cuda::StreamView stream) {
  if (cast.count == 0) return;
  constexpr std::size_t kPerBlock = std::size_t{kThreads} * kPerThread;
  const auto blocks = static_cast<unsigned>((cast.count + kPerBlock - 1) / kPerBlock);
  with_types(cast.from_type, cast.to_type, [&](auto from_value, auto to_value) {
    using From = decltype(from_value);
    using To = decltype(to_value);
    const auto kernel = is_aligned(cast.from) && is_aligned(cast.to)
                            ? cast_kernel<From, To, Access::kVector>
                            : cast_kernel<From, To, Access::kSingle>;
    launch("cast_kernel", [&] {
      kernel<<<blocks, kThreads, 0, stream.handle()>>>(static_cast<const From*>(cast.from),
                                                       static_cast<To*>(cast.to), cast.count);
    });
  });
}

}  // namespace stoker::audio
