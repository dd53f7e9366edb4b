// The flow's way from noise to speech and its error. Noise is that of fill_normal(), so this file
// is compiled without fused products and sums.
#include <algorithm>

#include "stoker/train/model/packed/row_values.cuh"

namespace stoker::train::device {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;

__device__ void make_normal(const PhiloxCounter& words, float (&values)[4]) {
#pragma unroll
  for (int k = 0; k < 4; k += 2) {
    const NormalPair pair = normal_pair_from(words[k], words[k + 1]);
    const float radius = __fsqrt_rn(pair.radius_squared);
    values[k] = radius * pair.cosine;
    values[k + 1] = radius * pair.sine;
  }
}

// One block of Philox a thread: four values of a row, which is read as one line of values. The
// blocks behind the rows write the zeros behind the last one.
template <class T, int kUnit>
__global__ void flow_kernel(Flow job) {
  const std::int64_t row = blockIdx.y;
  const bool is_behind = row == job.rows.num_rows;
  const std::int64_t begin = job.rows.begins[row] * job.width;
  const std::int64_t end =
      is_behind ? job.rows.num_places * job.width : job.rows.begins[row + 1] * job.width;
  const RowDraws draws = with_step(job.draws);
  const float time = is_behind ? 0 : job.time[row];
  const float noise_part = 1 - (1 - job.least_noise) * time;
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t block = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
       begin + block * 4 < end; block += stride) {
    float noise[4] = {};
    if (!is_behind)
      make_normal(words_of(draws, static_cast<std::size_t>(row), static_cast<std::size_t>(block)),
                  noise);
#pragma unroll
    for (int first = 0; first < 4; first += kUnit) {
      const std::int64_t at = begin + block * 4 + first;
      if (at >= end) continue;
      float mel[kUnit] = {};
      float noisy[kUnit] = {};
      if (!is_behind) load(job.mel + at, mel);
#pragma unroll
      for (int i = 0; i < kUnit; ++i) {
        noisy[i] = noise[first + i] * noise_part + mel[i] * time;
        mel[i] -= noise[first + i] * (1 - job.least_noise);
      }
      store(noisy, data_of<T>(job.noisy) + at);
      store(mel, job.velocity + at);
    }
  }
}

// A sum of the block in a fixed order, for its first thread.
__device__ float sum_of_block(float value) {
  __shared__ float sums[kWarps];
  value = sum_of_warp(value);
  if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = value;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < kWarps; ++i) sum += sums[i];
  return sum;
}

template <class T, int kUnit>
__global__ void squared_error_kernel(SquaredError job, float* partials) {
  const auto units = static_cast<unsigned>(job.width / kUnit);
  const auto all = static_cast<unsigned>(job.num_places) * units;
  float sum = 0;
  for (unsigned at = blockIdx.x * kThreads + threadIdx.x; at < all; at += gridDim.x * kThreads) {
    const std::int64_t place = at / units;
    const std::int64_t column = std::int64_t{at % units} * kUnit;
    const float weight = job.weight[place];
    if (weight == 0) continue;
    float prediction[kUnit];
    float target[kUnit];
    load(data_of<T>(job.prediction) + place * job.prediction.stride + column, prediction);
    load(job.target + place * job.width + column, target);
    float part = 0;
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      const float difference = prediction[i] - target[i];
      part += difference * difference;
    }
    sum += part * weight;
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

__global__ void sum_partials_kernel(const float* partials, int count, float* out) {
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) sum += partials[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *out = sum;
}

template <class T, int kUnit>
__global__ void squared_error_gradient_kernel(SquaredError job, const float* d_sum, Values out) {
  const auto units = static_cast<unsigned>(job.width / kUnit);
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  const std::int64_t place = at / units;
  if (place >= job.num_places) return;
  const std::int64_t column = std::int64_t{at % units} * kUnit;
  const float weight = job.weight[place];
  float gradient[kUnit] = {};
  if (weight != 0) {
    float target[kUnit];
    load(data_of<T>(job.prediction) + place * job.prediction.stride + column, gradient);
    load(job.target + place * job.width + column, target);
    const float by = 2 * weight * *d_sum;
#pragma unroll
    for (int i = 0; i < kUnit; ++i) gradient[i] = (gradient[i] - target[i]) * by;
  }
  store(gradient, data_of<T>(out) + place * out.stride + column);
}

// call(T{}, std::integral_constant<int, columns a thread>)
template <class Call>
void with_type_and_unit(ValueType type, std::int64_t width, Call&& call) {
  with_type(type, [&](auto value) {
    width % 4 == 0 ? call(value, std::integral_constant<int, 4>{})
                   : call(value, std::integral_constant<int, 1>{});
  });
}

std::int64_t num_units(const SquaredError& job, int unit) {
  const std::int64_t count = job.num_places * job.width / unit;
  check_invariant(count < (std::int64_t{1} << 31), "values that 32 bits can count");
  return count;
}

}  // namespace

void flow_point(const Flow& job, cuda::StreamView on) {
  Grid grid = grid_for((std::max<std::int64_t>(job.longest, 1) * job.width + 3) / 4, kThreads);
  grid.blocks.y = static_cast<unsigned>(job.rows.num_rows + 1);
  with_type_and_unit(job.noisy.type, job.width, [&](auto type, auto unit) {
    start("flow_kernel", flow_kernel<decltype(type), decltype(unit)::value>, grid, on, job);
  });
}

void squared_error(const SquaredError& job, float* partials, float* sum, cuda::StreamView on) {
  with_type_and_unit(job.prediction.type, job.width, [&](auto type, auto unit) {
    Grid grid = grid_for(num_units(job, unit), kThreads);
    const auto most = static_cast<unsigned>(kErrorPartials);
    grid.blocks.x = std::clamp(grid.blocks.x, 1U, most);
    start("squared_error_kernel", squared_error_kernel<decltype(type), decltype(unit)::value>, grid,
          on, job, partials);
    start("sum_partials_kernel", sum_partials_kernel, Grid{dim3(1), kThreads}, on, partials,
          static_cast<int>(grid.blocks.x), sum);
  });
}

void squared_error_gradient(const SquaredError& job, const float* d_sum, const Values& out,
                            cuda::StreamView on) {
  with_type_and_unit(job.prediction.type, job.width, [&](auto type, auto unit) {
    start("squared_error_gradient_kernel",
          squared_error_gradient_kernel<decltype(type), decltype(unit)::value>,
          grid_for(num_units(job, unit), kThreads), on, job, d_sum, out);
  });
}

}  // namespace stoker::train::device
