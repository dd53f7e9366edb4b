#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <algorithm>

#include "stoker/base/clock.h"
#include "stoker/bench/gemm_step.h"
#include "stoker/cuda/check.h"
#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/event.h"

namespace stoker::bench {
namespace {

// C = A * B^T: A has a row for every frame, B one for every value that the layer makes of it. A
// block makes 128 x 128 of C with 8 warps of 64 x 32 each.
constexpr int kTile = 128;
constexpr int kColumns = 2048;
constexpr int kDepth = 512;  // of the sums
constexpr int kMostRowTiles = 128;
constexpr int kSlice = 32;  // of depth, in shared memory at a time
constexpr int kThreads = 256;
constexpr int kFragment = 16;
constexpr int kRowValues = kSlice + 8;  // padded, so that rows fall on different banks
constexpr int kLeftValues = kMostRowTiles * kTile * kDepth;
constexpr int kRightValues = kColumns * kDepth;
constexpr int kProductValues = kMostRowTiles * kTile * kColumns;

__global__ void fill_matrix(__half* values) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  values[i] = __float2half(static_cast<float>((i * 2654435761U) >> 20U) / 4096.0F - 0.5F);
}

__device__ std::uint64_t now_ns() {
  std::uint64_t ns = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}

// Which ends of a step a product is.
struct StepEnds {
  observe::StepMark* first = nullptr;
  observe::StepMark* last = nullptr;
};

// 128 rows of kSlice values into shared memory, 16 bytes a thread and step.
__device__ void load_tile(const __half* from, __half (*to)[kRowValues]) {
  constexpr int kValues = 8;
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kSlice / kValues; i += kThreads) {
    const int row = i * kValues / kSlice;
    const int column = i * kValues % kSlice;
    *reinterpret_cast<uint4*>(&to[row][column]) =
        *reinterpret_cast<const uint4*>(from + static_cast<std::size_t>(row) * kDepth + column);
  }
}

__global__ void __launch_bounds__(kThreads)
    multiply(const __half* a, const __half* b, __half* c, StepEnds ends) {
  namespace wmma = nvcuda::wmma;
  __shared__ __half a_tile[kTile][kRowValues];
  __shared__ __half b_tile[kTile][kRowValues];
  if (ends.first != nullptr && blockIdx.x + blockIdx.y + threadIdx.x == 0) {
    ends.first->begin_ns = now_ns();
  }
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp / 4 * 64;
  const int warp_column = warp % 4 * 32;
  wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float> sums[4][2];
  for (auto& row : sums) {
    for (auto& sum : row) wmma::fill_fragment(sum, 0.0F);
  }
  for (int k = 0; k < kDepth; k += kSlice) {
    load_tile(a + static_cast<std::size_t>(blockIdx.y) * kTile * kDepth + k, a_tile);
    load_tile(b + static_cast<std::size_t>(blockIdx.x) * kTile * kDepth + k, b_tile);
    __syncthreads();
    for (int at = 0; at < kSlice; at += kFragment) {
      wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, __half, wmma::row_major>
          left[4];
      wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, __half, wmma::col_major>
          right[2];
      for (int i = 0; i < 4; ++i) {
        wmma::load_matrix_sync(left[i], &a_tile[warp_row + i * kFragment][at], kRowValues);
      }
      for (int j = 0; j < 2; ++j) {
        wmma::load_matrix_sync(right[j], &b_tile[warp_column + j * kFragment][at], kRowValues);
      }
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
      }
    }
    __syncthreads();
  }
  // One value of each fragment keeps the products alive; a trainer would store them all.
  const std::size_t row = static_cast<std::size_t>(blockIdx.y) * kTile + warp_row;
  const std::size_t column = static_cast<std::size_t>(blockIdx.x) * kTile + warp_column;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) {
      c[(row + i * kFragment) * kColumns + column + j * kFragment + threadIdx.x % 32 % kFragment] =
          __float2half(sums[i][j].x[0]);
    }
  }
  if (ends.last == nullptr) return;
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicMax(reinterpret_cast<unsigned long long*>(&ends.last->end_ns), now_ns());
  }
}

}  // namespace

struct GemmStep::Memory {
  explicit Memory(int device_index)
      : device(device_index),
        matrices(device_index, sizeof(__half) * (std::size_t{kLeftValues} + kRightValues +
                                                 std::size_t{kProductValues})) {}
  __half* left() const { return matrices.as<__half>(); }
  __half* right() const { return left() + kLeftValues; }
  __half* product() const { return right() + kRightValues; }

  int device;
  cuda::DeviceBuffer matrices;
};

GemmStep::GemmStep(int device) : memory_(std::make_unique<Memory>(device)) {
  cuda::call("cudaSetDevice", [&] { return cudaSetDevice(device); });
  const cuda::Stream stream(device);
  fill_matrix<<<(kLeftValues + kRightValues) / kThreads, kThreads, 0, stream.view().handle()>>>(
      memory_->left());
  cuda::call("fill_matrix", [] { return cudaGetLastError(); });
  stream.synchronize();
}

GemmStep::~GemmStep() = default;

void GemmStep::run(cuda::StreamView stream, observe::StepMark* mark) const {
  for (int left = num_row_tiles_; left > 0; left -= kMostRowTiles) {
    const dim3 grid(kColumns / kTile, static_cast<unsigned>(std::min(left, kMostRowTiles)));
    const StepEnds ends{.first = left == num_row_tiles_ ? mark : nullptr,
                        .last = left <= kMostRowTiles ? mark : nullptr};
    multiply<<<grid, kThreads, 0, stream.handle()>>>(memory_->left(), memory_->right(),
                                                     memory_->product(), ends);
  }
  cuda::call("multiply", [] { return cudaGetLastError(); });
}

void GemmStep::scale(double factor) {
  num_row_tiles_ = std::max(1, static_cast<int>(num_row_tiles_ * factor + 0.5));
}

void GemmStep::fit_to(double step_s, cuda::StreamView stream) {
  constexpr double kWarmS = 0.2;  // a GPU that rested needs that long to reach its clock
  constexpr int kRounds = 4;
  constexpr int kRuns = 10;
  cuda::Event begin(memory_->device, cuda::EventUse::kTiming);
  cuda::Event end(memory_->device, cuda::EventUse::kTiming);
  const auto measure_s = [&] {
    begin.record(stream);
    for (int i = 0; i < kRuns; ++i) run(stream, nullptr);
    end.record(stream);
    end.synchronize();
    return 1e-3 * end.ms_since(begin) / kRuns;
  };
  num_row_tiles_ = kMostRowTiles;
  for (const Stopwatch watch; watch.seconds() < kWarmS;) measure_s();
  for (int round = 0; round < kRounds; ++round) scale(step_s / measure_s());
}

}  // namespace stoker::bench
