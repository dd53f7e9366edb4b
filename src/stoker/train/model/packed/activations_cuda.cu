// GELU's gradient and sums of columns: what is between the products of a block.
#include <algorithm>

#include "stoker/train/model/packed/row_values.cuh"

namespace stoker::train::device {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
constexpr int kWide = 8;  // values a thread has at once

// Rows of blocks that a sum over places is divided into.
constexpr std::int64_t kMostSums = 128;
constexpr std::int64_t kLeastPlaces = 64;

// For 16-bit values two fast instructions are exact enough: the error is below 1e-6.
template <class T>
__device__ float tanh_of(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return tanhf(x);
  } else {
    return 1 - __fdividef(2.0F, 1 + __expf(2 * x));
  }
}

constexpr float kRootTwoOverPi = 0.79788456080286536F;
constexpr float kCubic = 0.044715F;

template <class T>
__device__ float gelu_slope_of(float u) {
  const float t = tanh_of<T>(kRootTwoOverPi * (u + kCubic * u * u * u));
  return 0.5F * (1 + t) + 0.5F * u * (1 - t * t) * kRootTwoOverPi * (1 + 3 * kCubic * u * u);
}

template <class T, int kUnit>
__device__ void gelu_gradient(const T* u, const T* d_g, T* d_u, float (&d)[kUnit]) {
  float values[kUnit];
  load(u, values);
  load(d_g, d);
#pragma unroll
  for (int i = 0; i < kUnit; ++i) d[i] *= gelu_slope_of<T>(values[i]);
  store(d, d_u);
}

// What is summed: values as they are, or the gradient of a GELU, which is stored on the way.
template <class T>
struct Plain {
  ConstValues values;

  template <int kUnit>
  __device__ void operator()(std::int64_t place, std::int64_t column, float (&part)[kUnit]) const {
    load(data_of<T>(values) + place * values.stride + column, part);
  }
};
template <class T>
struct OfGelu {
  const T* u;
  const T* d_g;
  T* d_u;
  std::int64_t width;

  template <int kUnit>
  __device__ void operator()(std::int64_t place, std::int64_t column, float (&part)[kUnit]) const {
    const std::int64_t at = place * width + column;
    gelu_gradient(u + at, d_g + at, d_u + at, part);
  }
};

// A block has the columns of one warp; its warps take places in turns.
template <int kUnit, class Read>
__global__ void __launch_bounds__(kThreads)
    column_sums_kernel(ColumnSums job, Read read, std::int64_t segment_places) {
  __shared__ float sums[kWarps][kLanes * kUnit];
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  const std::int64_t column = (std::int64_t{blockIdx.x} * kLanes + lane) * kUnit;
  const std::int64_t begin = blockIdx.y * segment_places;
  const std::int64_t end = min(begin + segment_places, job.num_places);
  float sum[kUnit] = {};
  if (column < job.width) {
#pragma unroll 4
    for (std::int64_t place = begin + warp; place < end; place += kWarps) {
      float part[kUnit];
      read(place, column, part);
#pragma unroll
      for (int i = 0; i < kUnit; ++i) sum[i] += part[i];
    }
  }
#pragma unroll
  for (int i = 0; i < kUnit; ++i) sums[warp][lane * kUnit + i] = sum[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kLanes * kUnit; i += kThreads) {
    const std::int64_t own = std::int64_t{blockIdx.x} * kLanes * kUnit + i;
    if (own >= job.width) break;
    float all = 0;
    for (int k = 0; k < kWarps; ++k) all += sums[k][i];
    job.partials[std::int64_t{blockIdx.y} * job.width + own] = all;
  }
}

// 32 columns a block; its warps take partial sums in turns.
constexpr int kFinalWarps = 16;
__global__ void add_partials_kernel(PartialSums job) {
  __shared__ float sums[kFinalWarps][kLanes];
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  const std::int64_t column = std::int64_t{blockIdx.x} * kLanes + lane;
  const std::int64_t all = job.width * job.num_outs;
  float sum = 0;
  if (column < all) {
#pragma unroll 8
    for (std::int64_t i = warp; i < job.num_partials; i += kFinalWarps)
      sum += job.partials[i * all + column];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || column >= all) return;
  for (int i = 1; i < kFinalWarps; ++i) sum += sums[i][lane];
  job.out[static_cast<std::size_t>(column / job.width)][column % job.width] += sum;
}

std::int64_t num_segments(std::int64_t num_places) {
  return std::clamp<std::int64_t>(num_places / kLeastPlaces, 1, kMostSums);
}

template <int kUnit, class Read>
void start_sums(const ColumnSums& job, const Read& read, cuda::StreamView on) {
  const std::int64_t segments = num_segments(job.num_places);
  const std::int64_t columns = std::int64_t{kLanes} * kUnit;
  const Grid grid{dim3(static_cast<unsigned>((job.width + columns - 1) / columns),
                       static_cast<unsigned>(segments)),
                  kThreads};
  start("column_sums_kernel", column_sums_kernel<kUnit, Read>, grid, on, job, read,
        (job.num_places + segments - 1) / segments);
  add_partials(
      {.partials = job.partials, .num_partials = segments, .width = job.width, .out = {job.out}},
      on);
}

}  // namespace

std::int64_t column_sum_partials(const ColumnSums& job) {
  return num_segments(job.num_places) * job.width;
}

void add_column_sums(const ColumnSums& job, cuda::StreamView on) {
  const bool is_wide =
      job.width % kWide == 0 && job.values.stride % kWide == 0 && is_aligned(job.values.data, 16);
  with_type(job.values.type, [&](auto type) {
    const Plain<decltype(type)> read{job.values};
    is_wide ? start_sums<kWide>(job, read, on) : start_sums<1>(job, read, on);
  });
}

void gelu_backward_with_sums(const ColumnSums& sums, const void* u, const void* d_g, void* d_u,
                             cuda::StreamView on) {
  with_type(sums.values.type, [&](auto type) {
    using T = decltype(type);
    const OfGelu<T> read{static_cast<const T*>(u), static_cast<const T*>(d_g), static_cast<T*>(d_u),
                         sums.width};
    sums.width % kWide == 0 ? start_sums<kWide>(sums, read, on) : start_sums<1>(sums, read, on);
  });
}

void add_partials(const PartialSums& job, cuda::StreamView on) {
  Grid grid = grid_for(job.width * job.num_outs, kLanes);
  grid.threads *= kFinalWarps;
  start("add_partials_kernel", add_partials_kernel, grid, on, job);
}

}  // namespace stoker::train::device
