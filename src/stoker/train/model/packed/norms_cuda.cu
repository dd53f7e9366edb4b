// Norms of residuals, with what joins the residual before: one warp a place, one pass over memory.
#include "stoker/train/model/packed/row_values.cuh"

namespace stoker::train::device {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kLanes;
constexpr float kEpsilon = 1e-5F;  // as at::layer_norm

// Adds the branch to what the lane holds of the residual, and stores the sum.
template <class T, int kQuads, Joining kJoining>
__device__ void join(const Norm& job, std::int64_t place, int row, LaneValues<kQuads>& values) {
  const int width = static_cast<int>(job.width);
  LaneValues<kQuads> branch;
  load_place(data_of<T>(job.branch) + place * job.branch.stride, width, branch);
  if constexpr (kJoining == Joining::kGated) {
    const float* gate = job.gate.data + row * job.gate.stride;
    for_quads<kQuads>(width, [&](int quad, int column) {
      float by[4];
      load(gate + column, by);
#pragma unroll
      for (int i = 0; i < 4; ++i) values.x[quad][i] += branch.x[quad][i] * by[i];
    });
  } else {
    const RowDraws draws = with_step(job.drops.draws);
    const std::int64_t first = (place - job.rows.begins[row]) * job.width;
    for_quads<kQuads>(width, [&](int quad, int column) {
      if (job.drops.rate > 0) keep_drawn(job.drops, draws, row, first + column, branch.x[quad]);
#pragma unroll
      for (int i = 0; i < 4; ++i) values.x[quad][i] += branch.x[quad][i];
    });
  }
  store_place(values, width, job.sum + place * job.width);
}

struct Stats {
  float mean;
  float scale;  // 1 / deviation
};

template <int kQuads>
__device__ Stats stats_of(const LaneValues<kQuads>& values, int width) {
  float sum = 0;
  for_quads<kQuads>(width, [&](int quad, int) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += values.x[quad][i];
  });
  const float mean = sum_of_warp(sum) / static_cast<float>(width);
  float squares = 0;
  for_quads<kQuads>(width, [&](int quad, int) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float beside = values.x[quad][i] - mean;
      squares += beside * beside;
    }
  });
  return {mean, rsqrtf(sum_of_warp(squares) / static_cast<float>(width) + kEpsilon)};
}

template <class In, class T, int kQuads, Joining kJoining>
__global__ void __launch_bounds__(kThreads) norm_kernel(Norm job) {
  const std::int64_t place = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kLanes;
  if (place >= job.rows.num_places) return;
  const int width = static_cast<int>(job.width);
  const int row = job.rows.row_of[place];
  T* out = data_of<T>(job.norm) + place * job.norm.stride;
  LaneValues<kQuads> values;
  if (row >= job.rows.num_rows) {
    store_place(values, width, out);
    if constexpr (kJoining != Joining::kNone)
      store_place(values, width, job.sum + place * job.width);
    return;
  }
  load_place(data_of<In>(job.input) + place * job.input.stride, width, values);
  if constexpr (kJoining != Joining::kNone) join<T, kQuads, kJoining>(job, place, row, values);
  const Stats stats = stats_of(values, width);
  if (threadIdx.x % kLanes == 0) {
    job.stats[2 * place] = stats.mean;
    job.stats[2 * place + 1] = stats.scale;
  }
  const float* factor = job.factor.data + row * job.factor.stride;
  const float* shift = job.shift.data + row * job.shift.stride;
  for_quads<kQuads>(width, [&](int quad, int column) {
    float by[4];
    float plus[4];
    load(factor + column, by);
    load(shift + column, plus);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      values.x[quad][i] = (values.x[quad][i] - stats.mean) * stats.scale * by[i] + plus[i];
    store(values.x[quad], out + column);
  });
}

template <class In, class T, Joining kJoining>
void start_norm(const Norm& job, cuda::StreamView on) {
  with_quads(job.width, [&](auto quads) {
    start("norm_kernel", norm_kernel<In, T, decltype(quads)::value, kJoining>,
          grid_for(job.rows.num_places * kLanes, kThreads), on, job);
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads) drop_kernel(Dropping job) {
  const auto quads = static_cast<unsigned>(job.width / 4);
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  const std::int64_t place = at / quads;
  if (place >= job.rows.num_places) return;
  const std::int64_t column = std::int64_t{at % quads} * 4;
  const int row = job.rows.row_of[place];
  float values[4] = {};
  if (row < job.rows.num_rows) {
    load(data_of<T>(job.values) + place * job.values.stride + column, values);
    if (job.drops.rate > 0) {
      const std::int64_t first = (place - job.rows.begins[row]) * job.width;
      keep_drawn(job.drops, with_step(job.drops.draws), row, first + column, values);
    }
  }
  store(values, data_of<T>(job.out) + place * job.out.stride + column);
}

}  // namespace

void norm(const Norm& job, cuda::StreamView on) {
  with_type(job.norm.type, [&](auto type) {
    using T = decltype(type);
    if (job.joining == Joining::kGated) return start_norm<float, T, Joining::kGated>(job, on);
    if (job.joining == Joining::kDropped) return start_norm<float, T, Joining::kDropped>(job, on);
    if (job.input.type == ValueType::kF32) return start_norm<float, T, Joining::kNone>(job, on);
    check_invariant(job.input.type == job.norm.type, "a norm's input is f32 or of its own type");
    return start_norm<T, T, Joining::kNone>(job, on);
  });
}

void drop(const Dropping& job, cuda::StreamView on) {
  check_invariant(job.width > 0 && job.width % 4 == 0, "a width that dropout can have");
  with_type(job.out.type, [&](auto type) {
    start("drop_kernel", drop_kernel<decltype(type)>,
          grid_for(job.rows.num_places * job.width / 4, kThreads), on, job);
  });
}

}  // namespace stoker::train::device
