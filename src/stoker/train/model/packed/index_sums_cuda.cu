// Values that several places share: windows along rows, sums of ranges and sums by index, each in
// the order of places.
#include <algorithm>

#include "stoker/train/model/packed/row_values.cuh"

namespace stoker::train::device {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
constexpr std::int64_t kMostSegments = 16;
constexpr std::int64_t kMostPartials = 4 << 20;  // values of sums by index

// A thread has `kUnit` neighbouring columns of one place.
template <int kUnit>
struct UnitPlace {
  std::int64_t place;
  int column;

  __device__ explicit UnitPlace(std::int64_t width) {
    const auto units = static_cast<unsigned>(width / kUnit);
    const unsigned at = blockIdx.x * kThreads + threadIdx.x;
    place = at / units;
    column = static_cast<int>(at % units) * kUnit;
  }
};

// call(std::integral_constant<int, columns a thread>)
template <class Call>
void with_unit(std::int64_t width, Call&& call) {
  width % 4 == 0 ? call(std::integral_constant<int, 4>{}) : call(std::integral_constant<int, 1>{});
}

Grid grid_of(std::int64_t num_places, std::int64_t width, int unit) {
  const std::int64_t count = num_places * width / unit;
  check_invariant(count < (std::int64_t{1} << 32), "values that 32 bits can count");
  return grid_for(count, kThreads);
}

template <class T, int kUnit>
__global__ void unfold_kernel(Unfold job, ConstValues values, Values out) {
  const UnitPlace<kUnit> own(job.width * job.kernel);
  if (own.place >= job.to.num_places) return;
  const int row = job.to.row_of[own.place];
  float found[kUnit] = {};
  if (row < job.to.num_rows) {
    const int kernel = static_cast<int>(job.kernel);
    const std::int64_t begin = job.from.begins[row];
    const std::int64_t end = job.from.begins[row + 1];
    const std::int64_t first = begin + (own.place - job.to.begins[row]) * job.step - job.kernel / 2;
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      const int channel = (own.column + i) / kernel;
      const std::int64_t place = first + (own.column + i) - channel * kernel;
      if (place >= begin && place < end)
        found[i] = to_float(data_of<T>(values)[place * values.stride + channel]);
    }
  }
  store(found, data_of<T>(out) + own.place * out.stride + own.column);
}

template <class T, int kUnit>
__global__ void unfold_gradient_kernel(Unfold job, ConstValues d_out, Values d_values) {
  const UnitPlace<kUnit> own(job.width);
  if (own.place >= job.from.num_places) return;
  const int row = job.from.row_of[own.place];
  float sum[kUnit] = {};
  if (row < job.from.num_rows) {
    const int kernel = static_cast<int>(job.kernel);
    const int step = static_cast<int>(job.step);
    const int begin = job.to.begins[row];
    const int length = job.to.begins[row + 1] - begin;
    const int middle = static_cast<int>(own.place) - job.from.begins[row] + kernel / 2;
    for (int j = 0; j < kernel && j <= middle; ++j) {
      const int place = (middle - j) / step;
      if (place * step != middle - j || place >= length) continue;
      const T* from = data_of<T>(d_out) + std::int64_t{begin + place} * d_out.stride + j;
#pragma unroll
      for (int i = 0; i < kUnit; ++i) sum[i] += to_float(from[(own.column + i) * kernel]);
    }
  }
  store(sum, data_of<T>(d_values) + own.place * d_values.stride + own.column);
}

template <class T, int kUnit>
__global__ void sum_ranges_kernel(RangeSums job, ConstValues values, Values out) {
  const UnitPlace<kUnit> own(job.width);
  if (own.place >= job.num_ranges) return;
  const int end = job.begins[own.place + 1];
  float sum[kUnit] = {};
#pragma unroll 4
  for (int place = job.begins[own.place]; place < end; ++place) {
    float part[kUnit];
    load(data_of<T>(values) + place * values.stride + own.column, part);
#pragma unroll
    for (int i = 0; i < kUnit; ++i) sum[i] += part[i];
  }
  store(sum, data_of<T>(out) + own.place * out.stride + own.column);
}

// Which of the block's tile of indices are `id`, in order; returns how many.
__device__ int find_matches(const IndexSums& job, std::int64_t index, std::int64_t end,
                            std::int64_t* matches) {
  __shared__ int counts[kWarps];
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  const bool is_match = index < end && job.indices[index] == std::int64_t{blockIdx.x};
  const unsigned bits = __ballot_sync(0xFFFFFFFFU, is_match);
  if (lane == 0) counts[warp] = __popc(bits);
  __syncthreads();
  int before = 0;
  int all = 0;
  for (unsigned i = 0; i < kWarps; ++i) {
    before += i < warp ? counts[i] : 0;
    all += counts[i];
  }
  if (is_match) matches[before + __popc(bits & ((1U << lane) - 1))] = index;
  __syncthreads();
  return all;
}

// A block has one id and one segment of places; groups of threads take its matches in turns.
template <class T>
__global__ void __launch_bounds__(kThreads)
    index_sums_kernel(IndexSums job, std::int64_t segment_places) {
  __shared__ std::int64_t matches[kThreads];
  __shared__ Together<float, 4> group_sums[kThreads];
  const int quads = static_cast<int>(job.width / 4);
  const int num_groups = kThreads / quads;
  const int group = static_cast<int>(threadIdx.x) / quads;
  const int column = static_cast<int>(threadIdx.x) % quads * 4;
  const std::int64_t begin = blockIdx.y * segment_places;
  const std::int64_t end = min(begin + segment_places, job.num_indices);
  float sum[4] = {};
  for (std::int64_t first = begin; first < end; first += kThreads) {
    const int count = find_matches(job, first + threadIdx.x, end, matches);
    for (int i = group; i < count && group < num_groups; i += num_groups) {
      float part[4];
      load(data_of<T>(job.values) + matches[i] * job.values.stride + column, part);
#pragma unroll
      for (int k = 0; k < 4; ++k) sum[k] += part[k];
    }
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) group_sums[threadIdx.x].values[k] = sum[k];
  __syncthreads();
  if (group > 0) return;
  for (int other = 1; other < num_groups; ++other) {
#pragma unroll
    for (int k = 0; k < 4; ++k) sum[k] += group_sums[threadIdx.x + other * quads].values[k];
  }
  store(sum,
        job.partials + (std::int64_t{blockIdx.y} * job.num_ids + blockIdx.x) * job.width + column);
}

std::int64_t num_segments(const IndexSums& job) {
  const std::int64_t room = kMostPartials / std::max<std::int64_t>(job.num_ids * job.width, 1);
  const std::int64_t tiles = (job.num_indices + kThreads - 1) / kThreads;
  return std::clamp<std::int64_t>(std::min(room, tiles), 1, kMostSegments);
}

}  // namespace

void unfold(const Unfold& job, const ConstValues& values, const Values& out, cuda::StreamView on) {
  with_type(values.type, [&](auto type) {
    with_unit(job.width * job.kernel, [&](auto unit) {
      start("unfold_kernel", unfold_kernel<decltype(type), decltype(unit)::value>,
            grid_of(job.to.num_places, job.width * job.kernel, unit), on, job, values, out);
    });
  });
}

void unfold_gradient(const Unfold& job, const ConstValues& d_out, const Values& d_values,
                     cuda::StreamView on) {
  with_type(d_out.type, [&](auto type) {
    with_unit(job.width, [&](auto unit) {
      start("unfold_gradient_kernel", unfold_gradient_kernel<decltype(type), decltype(unit)::value>,
            grid_of(job.from.num_places, job.width, unit), on, job, d_out, d_values);
    });
  });
}

void sum_ranges(const RangeSums& job, const ConstValues& values, const Values& out,
                cuda::StreamView on) {
  with_type(values.type, [&](auto type) {
    with_unit(job.width, [&](auto unit) {
      start("sum_ranges_kernel", sum_ranges_kernel<decltype(type), decltype(unit)::value>,
            grid_of(job.num_ranges, job.width, unit), on, job, values, out);
    });
  });
}

std::int64_t index_sum_partials(const IndexSums& job) {
  return num_segments(job) * job.num_ids * job.width;
}

void add_by_index(const IndexSums& job, cuda::StreamView on) {
  check_invariant(job.width % 4 == 0 && job.width <= 4 * kThreads, "a table's width fits a block");
  const std::int64_t segments = num_segments(job);
  const std::int64_t tiles = (job.num_indices + kThreads - 1) / kThreads;
  const std::int64_t places = (tiles + segments - 1) / segments * kThreads;
  Grid grid{dim3(static_cast<unsigned>(job.num_ids), static_cast<unsigned>(segments)), kThreads};
  with_type(job.values.type, [&](auto type) {
    start("index_sums_kernel", index_sums_kernel<decltype(type)>, grid, on, job, places);
  });
  add_partials({.partials = job.partials,
                .num_partials = segments,
                .width = job.num_ids * job.width,
                .out = {job.out}},
               on);
}

}  // namespace stoker::train::device
