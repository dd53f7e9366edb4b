// What the kernels on packed rows share: values of three types in registers, sums over a warp, and
// the choice of an instance by type and width.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "stoker/audio/launch.cuh"
#include "stoker/base/invariant.h"
#include "stoker/train/model/packed/row_kernels.h"

namespace stoker::train::device {

inline constexpr int kLanes = 32;

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ inline float to_float(__half value) { return __half2float(value); }

template <class T>
__device__ inline T from_float(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(value);
  } else {
    return __float2bfloat16_rn(value);
  }
}

// Neighbouring values, read and written at once.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Together {
  T values[kCount];
};

// As many of `count` values as the widest access takes, 16 bytes.
template <class T>
constexpr int at_once(int count) {
  return static_cast<int>(sizeof(T)) * count > 16 ? 16 / static_cast<int>(sizeof(T)) : count;
}

template <int kCount, class T>
__device__ inline void load(const T* from, float (&to)[kCount]) {
  constexpr int kPart = at_once<T>(kCount);
#pragma unroll
  for (int first = 0; first < kCount; first += kPart) {
    const auto part = *reinterpret_cast<const Together<T, kPart>*>(from + first);
#pragma unroll
    for (int i = 0; i < kPart; ++i) to[first + i] = to_float(part.values[i]);
  }
}

template <int kCount, class T>
__device__ inline void store(const float (&from)[kCount], T* to) {
  constexpr int kPart = at_once<T>(kCount);
#pragma unroll
  for (int first = 0; first < kCount; first += kPart) {
    Together<T, kPart> part;
#pragma unroll
    for (int i = 0; i < kPart; ++i) part.values[i] = from_float<T>(from[first + i]);
    *reinterpret_cast<Together<T, kPart>*>(to + first) = part;
  }
}

// Every lane gets the sum, added in the same order.
__device__ inline float sum_of_warp(float value) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFU, value, step);
  return value;
}

// Four draws of a row, from the value numbered `first`, a multiple of 4, on.
__device__ inline void keep_drawn(const Drops& drops, const RowDraws& draws, std::size_t row,
                                  std::size_t first, float (&values)[4]) {
  const PhiloxCounter words = words_of(draws, row, first / kBlockValues);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    values[i] = uniform_from(words[i]) >= drops.rate ? values[i] * drops.factor : 0.0F;
}

// The values of a place that one lane holds: quads `lane`, `lane` + 32, …
template <int kQuads>
struct LaneValues {
  float x[kQuads][4] = {};
};
__device__ inline int column_of(int quad) {
  return (quad * kLanes + static_cast<int>(threadIdx.x) % kLanes) * 4;
}
template <int kQuads, class Do>
__device__ inline void for_quads(int width, Do&& act) {
#pragma unroll
  for (int quad = 0; quad < kQuads; ++quad) {
    const int column = column_of(quad);
    if (column < width) act(quad, column);
  }
}
template <int kQuads, class T>
__device__ inline void load_place(const T* from, int width, LaneValues<kQuads>& to) {
  for_quads<kQuads>(width, [&](int quad, int column) { load(from + column, to.x[quad]); });
}
template <int kQuads, class T>
__device__ inline void store_place(const LaneValues<kQuads>& from, int width, T* to) {
  for_quads<kQuads>(width, [&](int quad, int column) { store(from.x[quad], to + column); });
}

// call(std::integral_constant<int, quads a lane>) for a norm of that width.
template <class Call>
void with_quads(std::int64_t width, Call&& call) {
  check_invariant(width > 0 && width % 4 == 0 && width <= kWidestNorm, "a width norms can have");
  const std::int64_t quads = (width / 4 + kLanes - 1) / kLanes;
  if (quads <= 1) return call(std::integral_constant<int, 1>{});
  if (quads <= 2) return call(std::integral_constant<int, 2>{});
  if (quads <= 3) return call(std::integral_constant<int, 3>{});
  if (quads <= 4) return call(std::integral_constant<int, 4>{});
  if (quads <= 6) return call(std::integral_constant<int, 6>{});
  return call(std::integral_constant<int, 8>{});
}

template <class T>
__host__ __device__ const T* data_of(const ConstValues& values) {
  return static_cast<const T*>(values.data);
}
template <class T>
__host__ __device__ T* data_of(const Values& values) {
  return static_cast<T*>(values.data);
}

// call(T{}) with the type that `type` names.
template <class Call>
void with_type(ValueType type, Call&& call) {
  switch (type) {
    case ValueType::kF32:
      return call(float{});
    case ValueType::kBf16:
      return call(__nv_bfloat16{});
    case ValueType::kF16:
      return call(__half{});
  }
}

inline bool is_aligned(const void* data, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % bytes == 0;
}

struct Grid {
  dim3 blocks;
  unsigned threads;
};

// As many blocks as threads for `count` need.
inline Grid grid_for(std::int64_t count, unsigned threads) {
  return {dim3(static_cast<unsigned>((count + threads - 1) / threads)), threads};
}

template <class... Parameters, class... Arguments>
void start(const char* name, void (*kernel)(Parameters...), const Grid& grid, cuda::StreamView on,
           const Arguments&... arguments) {
  if (grid.blocks.x == 0 || grid.blocks.y == 0) return;
  audio::launch(name, [&] { kernel<<<grid.blocks, grid.threads, 0, on.handle()>>>(arguments...); });
}

// out[k][c] += sum over i of partials[i][k * width + c], in a fixed order.
struct PartialSums {
  const float* partials = nullptr;
  std::int64_t num_partials = 0;
  std::int64_t width = 0;
  std::array<float*, 3> out{};
  int num_outs = 1;
};
void add_partials(const PartialSums& job, cuda::StreamView on);

}  // namespace stoker::train::device
