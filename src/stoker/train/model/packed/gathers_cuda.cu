// Rows of bytes that go to other places: copies by index, padding and its way back, and where
// packed rows begin.
#include <numeric>

#include "stoker/train/model/packed/row_values.cuh"

namespace stoker::train::device {
namespace {

constexpr int kThreads = 256;
constexpr int kScanThreads = 1024;

template <class Number>
struct ByNumber {
  const Number* index;
  std::int64_t num_from;

  __device__ std::int64_t operator()(std::int64_t to) const {
    const auto from = static_cast<std::int64_t>(index[to]);
    return from < num_from ? from : -1;
  }
};

struct ToPadded {
  const std::int32_t* begins;
  std::int64_t longest;

  __device__ std::int64_t operator()(std::int64_t to) const {
    const std::int64_t row = to / longest;
    const std::int64_t from = begins[row] + (to - row * longest);
    return from < begins[row + 1] ? from : -1;
  }
};

struct FromPadded {
  Rows rows;
  std::int64_t longest;

  __device__ std::int64_t operator()(std::int64_t to) const {
    const std::int64_t row = rows.row_of[to];
    return row < rows.num_rows ? row * longest + (to - rows.begins[row]) : -1;
  }
};

template <class Unit, class Index>
__global__ void copy_kernel(Copy job, Index index) {
  const auto units = static_cast<unsigned>(job.row_bytes / sizeof(Unit));
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  const std::int64_t to = at / units;
  if (to >= job.num_to) return;
  const std::int64_t from = index(to);
  Unit value{};
  if (from >= 0) {
    const auto* begin = static_cast<const char*>(job.from) + from * job.from_stride;
    value = reinterpret_cast<const Unit*>(begin)[at % units];
  }
  static_cast<Unit*>(job.to)[at] = value;
}

template <class Unit, class Index>
void start_copy(const Copy& job, const Index& index, cuda::StreamView on) {
  const std::int64_t units = job.num_to * static_cast<std::int64_t>(job.row_bytes / sizeof(Unit));
  check_invariant(units < (std::int64_t{1} << 32), "a copy that 32 bits can count");
  start("copy_kernel", copy_kernel<Unit, Index>, grid_for(units, kThreads), on, job, index);
}

// In the widest units that sizes and addresses allow.
template <class Index>
void copy_by(const Copy& job, const Index& index, cuda::StreamView on) {
  if (job.row_bytes == 0) return;
  const std::size_t all = job.row_bytes | job.from_stride | std::size_t{16} |
                          reinterpret_cast<std::uintptr_t>(job.from) |
                          reinterpret_cast<std::uintptr_t>(job.to);
  switch (all & (~all + 1)) {  // the lowest bit set
    case 16:
      return start_copy<uint4>(job, index, on);
    case 8:
      return start_copy<uint2>(job, index, on);
    case 4:
      return start_copy<std::uint32_t>(job, index, on);
    case 2:
      return start_copy<std::uint16_t>(job, index, on);
    default:
      return start_copy<std::uint8_t>(job, index, on);
  }
}

// One block: sums of lengths before each row, a tile after the other.
__global__ void begins_kernel(Packing job) {
  __shared__ std::int32_t sums[kScanThreads];
  const int lane = static_cast<int>(threadIdx.x);
  std::int32_t before = 0;
  for (std::int64_t first = 0; first < job.num_rows; first += kScanThreads) {
    const std::int64_t row = first + lane;
    sums[lane] = row < job.num_rows ? static_cast<std::int32_t>(job.lengths[row]) : 0;
    __syncthreads();
    for (int step = 1; step < kScanThreads; step *= 2) {
      const std::int32_t left = lane >= step ? sums[lane - step] : 0;
      __syncthreads();
      sums[lane] += left;
      __syncthreads();
    }
    if (row < job.num_rows) job.begins[row + 1] = before + sums[lane];
    before += sums[kScanThreads - 1];
    __syncthreads();
  }
  if (lane == 0) job.begins[0] = 0;
}

// The number of rows that end at the place or before it.
__global__ void row_of_kernel(Packing job) {
  const std::int64_t place = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (place >= job.num_places) return;
  std::int64_t low = 0;
  std::int64_t high = job.num_rows;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (job.begins[middle + 1] > place) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  job.row_of[place] = static_cast<std::int32_t>(low);
}

__global__ void place_kernel(Rows rows, std::int64_t* out) {
  const std::int64_t place = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (place >= rows.num_places) return;
  const int row = rows.row_of[place];
  out[place] = row < rows.num_rows ? place - rows.begins[row] : 0;
}

}  // namespace

void copy_rows(const Copy& job, const std::int64_t* index, cuda::StreamView on) {
  copy_by(job, ByNumber<std::int64_t>{index, job.num_from}, on);
}

void copy_rows(const Copy& job, const std::int32_t* index, cuda::StreamView on) {
  copy_by(job, ByNumber<std::int32_t>{index, job.num_from}, on);
}

void pad_rows(const Copy& job, const Rows& rows, std::int64_t longest, cuda::StreamView on) {
  copy_by(job, ToPadded{rows.begins, longest}, on);
}

void join_rows(const Copy& job, const Rows& rows, std::int64_t longest, cuda::StreamView on) {
  copy_by(job, FromPadded{rows, longest}, on);
}

void pack_rows(const Packing& job, cuda::StreamView on) {
  start("begins_kernel", begins_kernel, Grid{dim3(1), kScanThreads}, on, job);
  start("row_of_kernel", row_of_kernel, grid_for(job.num_places, kThreads), on, job);
}

void place_in_row(const Rows& rows, std::int64_t* out, cuda::StreamView on) {
  start("place_kernel", place_kernel, grid_for(rows.num_places, kThreads), on, rows, out);
}

}  // namespace stoker::train::device
