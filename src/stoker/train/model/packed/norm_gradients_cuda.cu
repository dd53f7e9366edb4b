// Gradients of norms: one warp a chunk of places, so that sums over places stay in registers until
// the chunk or the row ends.
#include <algorithm>

#include "stoker/train/model/packed/row_values.cuh"

namespace stoker::train::device {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kLanes;
constexpr std::int64_t kMostChunks = 2048;  // all of them run at once on a large GPU
constexpr std::int64_t kLeastPlaces = 4;    // of a chunk

std::int64_t places_of_chunk(std::int64_t num_places) {
  return std::max(kLeastPlaces, (num_places + kMostChunks - 1) / kMostChunks);
}

std::int64_t num_chunks(const NormGradient& job) {
  const std::int64_t places = places_of_chunk(job.rows.num_places);
  return (job.rows.num_places + places - 1) / places;
}

constexpr int num_sums(Joining joining) { return joining == Joining::kGated ? 3 : 2; }

// Sums of factor, shift and gate, as far as a chunk goes. Chunks and rows both ascend with places,
// so each pair that meets has a number of its own: chunk + row.
template <int kQuads, int kSums>
struct ChunkSums {
  LaneValues<kQuads> sums[kSums] = {};

  __device__ void write(float* partials, std::int64_t slot, int width) {
    float* to = partials + slot * kSums * width;
#pragma unroll
    for (int k = 0; k < kSums; ++k) {
      store_place(sums[k], width, to + std::int64_t{k} * width);
      sums[k] = {};
    }
  }
};

// Gradient of what was normed, less d_sum; adds to the sums of factor and shift.
template <class In, class T, int kQuads, int kSums>
__device__ void add_norm_part(const NormGradient& job, std::int64_t place, int row,
                              LaneValues<kQuads>& gradient, ChunkSums<kQuads, kSums>& sums) {
  const int width = static_cast<int>(job.width);
  const float mean = job.stats[2 * place];
  const float scale = job.stats[2 * place + 1];
  const float* factor = job.factor.data + row * job.factor.stride;
  LaneValues<kQuads> normed;
  LaneValues<kQuads> d_normed;
  load_place(data_of<In>(job.sum) + place * job.sum.stride, width, normed);
  load_place(data_of<T>(job.d_norm) + place * job.d_norm.stride, width, d_normed);
  float sum = 0;
  float product = 0;
  for_quads<kQuads>(width, [&](int quad, int column) {
    float by[4];
    load(factor + column, by);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float& x = normed.x[quad][i];
      float& d = d_normed.x[quad][i];
      x = (x - mean) * scale;
      sums.sums[0].x[quad][i] += d * x;
      sums.sums[1].x[quad][i] += d;
      d *= by[i];
      sum += d;
      product += d * x;
    }
  });
  sum = sum_of_warp(sum) / static_cast<float>(width);
  product = sum_of_warp(product) / static_cast<float>(width);
#pragma unroll
  for (int quad = 0; quad < kQuads; ++quad) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      gradient.x[quad][i] += scale * (d_normed.x[quad][i] - sum - normed.x[quad][i] * product);
  }
}

// What a gate was multiplied with, as it is in memory.
template <class T, int kQuads>
struct Branch {
  Together<T, 4> quads[kQuads] = {};

  __device__ void read(const NormGradient& job, std::int64_t place) {
    const T* from = data_of<T>(job.branch) + place * job.branch.stride;
    for_quads<kQuads>(static_cast<int>(job.width), [&](int quad, int column) {
      quads[quad] = *reinterpret_cast<const Together<T, 4>*>(from + column);
    });
  }
};

// Gradient of the branch from that of the sum; adds to the sums of the gate.
template <class T, int kQuads, Joining kJoining, int kSums>
__device__ void branch_part(const NormGradient& job, std::int64_t place, int row,
                            const Branch<T, kQuads>& branch, LaneValues<kQuads>& gradient,
                            ChunkSums<kQuads, kSums>& sums) {
  const int width = static_cast<int>(job.width);
  if constexpr (kJoining == Joining::kGated) {
    const float* gate = job.gate.data + row * job.gate.stride;
    for_quads<kQuads>(width, [&](int quad, int column) {
      float by[4];
      load(gate + column, by);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums.sums[2].x[quad][i] += gradient.x[quad][i] * to_float(branch.quads[quad].values[i]);
        gradient.x[quad][i] *= by[i];
      }
    });
  } else if (job.drops.rate > 0) {
    const RowDraws draws = with_step(job.drops.draws);
    const std::int64_t first = (place - job.rows.begins[row]) * job.width;
    for_quads<kQuads>(width, [&](int quad, int column) {
      keep_drawn(job.drops, draws, row, first + column, gradient.x[quad]);
    });
  }
  store_place(gradient, width, data_of<T>(job.d_branch) + place * job.d_branch.stride);
}

// Zeros behind the last row.
template <class In, class T, int kQuads, Joining kJoining>
__device__ void write_zeros(const NormGradient& job, std::int64_t place) {
  const int width = static_cast<int>(job.width);
  const LaneValues<kQuads> zeros;
  store_place(zeros, width, data_of<In>(job.d_input) + place * job.d_input.stride);
  if constexpr (kJoining != Joining::kNone)
    store_place(zeros, width, data_of<T>(job.d_branch) + place * job.d_branch.stride);
}

// All reads of a place begin before its first sum over the warp.
template <class In, class T, int kQuads, Joining kJoining, int kSums>
__device__ void gradient_of_place(const NormGradient& job, std::int64_t place, int row,
                                  ChunkSums<kQuads, kSums>& sums) {
  const int width = static_cast<int>(job.width);
  LaneValues<kQuads> gradient;
  Branch<T, kQuads> branch;
  if (job.d_sum != nullptr) load_place(job.d_sum + place * job.width, width, gradient);
  if constexpr (kJoining == Joining::kGated) branch.read(job, place);
  if (job.d_norm.data != nullptr) add_norm_part<In, T>(job, place, row, gradient, sums);
  store_place(gradient, width, data_of<In>(job.d_input) + place * job.d_input.stride);
  if constexpr (kJoining != Joining::kNone)
    branch_part<T, kQuads, kJoining>(job, place, row, branch, gradient, sums);
}

template <class In, class T, int kQuads, Joining kJoining>
__global__ void __launch_bounds__(kThreads, kQuads <= 4 ? 4 : 2)
    norm_gradient_kernel(NormGradient job, std::int64_t chunk_places) {
  const int width = static_cast<int>(job.width);
  const std::int64_t chunk = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kLanes;
  const std::int64_t begin = chunk * chunk_places;
  if (begin >= job.rows.num_places) return;
  const std::int64_t end = min(begin + chunk_places, job.rows.num_places);
  const bool is_per_row = job.factor.stride != 0;
  ChunkSums<kQuads, num_sums(kJoining)> sums;
  int last_row = -1;
  int next_row = job.rows.row_of[begin];
  for (std::int64_t place = begin; place < end; ++place) {
    const int row = next_row;
    next_row = job.rows.row_of[min(place + 1, end - 1)];
    if (row >= job.rows.num_rows) {
      write_zeros<In, T, kQuads, kJoining>(job, place);
      continue;
    }
    if (is_per_row && last_row >= 0 && row != last_row)
      sums.write(job.partials, chunk + last_row, width);
    last_row = row;
    gradient_of_place<In, T, kQuads, kJoining>(job, place, row, sums);
  }
  if (!is_per_row) sums.write(job.partials, chunk, width);
  if (is_per_row && last_row >= 0) sums.write(job.partials, chunk + last_row, width);
}

// Sums of each row from those of the chunks that it is in; zeros of a row without places.
__global__ void row_sums_kernel(PartialSums job, const std::int32_t* begins,
                                std::int64_t chunk_places) {
  const std::int64_t row = blockIdx.y;
  const std::int64_t column = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * 4;
  const std::int64_t all = job.width * job.num_outs;
  if (column >= all) return;
  float sum[4] = {};
  if (begins[row] < begins[row + 1]) {
    const std::int64_t last = (begins[row + 1] - 1) / chunk_places;
#pragma unroll 4
    for (std::int64_t chunk = begins[row] / chunk_places; chunk <= last; ++chunk) {
      float part[4];
      load(job.partials + (chunk + row) * all + column, part);
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] += part[i];
    }
  }
  float* out = job.out[static_cast<std::size_t>(column / job.width)];
  store(sum, out + row * job.width + column % job.width);
}

template <class In, class T, Joining kJoining>
void start_gradient(const NormGradient& job, cuda::StreamView on) {
  with_quads(job.width, [&](auto quads) {
    start("norm_gradient_kernel", norm_gradient_kernel<In, T, decltype(quads)::value, kJoining>,
          grid_for(num_chunks(job) * kLanes, kThreads), on, job,
          places_of_chunk(job.rows.num_places));
  });
}

template <class T>
void start_gradient(const NormGradient& job, cuda::StreamView on) {
  if (job.joining == Joining::kGated) return start_gradient<float, T, Joining::kGated>(job, on);
  if (job.joining == Joining::kDropped) return start_gradient<float, T, Joining::kDropped>(job, on);
  if (job.sum.type == ValueType::kF32) return start_gradient<float, T, Joining::kNone>(job, on);
  return start_gradient<T, T, Joining::kNone>(job, on);
}

}  // namespace

std::int64_t norm_gradient_partials(const NormGradient& job) {
  const std::int64_t slots = num_chunks(job) + (job.factor.stride != 0 ? job.rows.num_rows : 0);
  return slots * num_sums(job.joining) * job.width;
}

void norm_gradient(const NormGradient& job, cuda::StreamView on) {
  check_invariant(job.d_input.type == job.sum.type, "a gradient has its value's type");
  with_type(job.d_norm.type, [&](auto type) { start_gradient<decltype(type)>(job, on); });
  const PartialSums sums{.partials = job.partials,
                         .num_partials = num_chunks(job),
                         .width = job.width,
                         .out = {job.d_factor, job.d_shift, job.d_gate},
                         .num_outs = num_sums(job.joining)};
  if (job.factor.stride == 0) return add_partials(sums, on);
  Grid grid = grid_for(job.width * sums.num_outs / 4, kThreads);
  grid.blocks.y = static_cast<unsigned>(job.rows.num_rows);
  start("row_sums_kernel", row_sums_kernel, grid, on, sums, job.rows.begins,
        places_of_chunk(job.rows.num_places));
}

}  // namespace stoker::train::device
