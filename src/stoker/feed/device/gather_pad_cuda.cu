#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "stoker/cuda/check.h"
#include "stoker/feed/device/gather_pad.h"

namespace stoker::feed {
namespace {

constexpr int kThreads = 256;
// Blocks that share one segment: a row of 800 frames is 128 KB in f16, 8 vectors a thread.
constexpr int kBlocksPerSegment = 4;

__device__ float widen(float value) { return value; }
__device__ float widen(__half value) { return __half2float(value); }
__device__ float widen(__nv_bfloat16 value) { return __bfloat162float(value); }

template <class T>
__device__ T narrow(float value) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return value;
  } else if constexpr (__is_same(T, __half)) {
    return __float2half_rn(value);
  } else {
    return __float2bfloat16_rn(value);
  }
}

// Where a segment begins and how long it is, in values.
struct Segment {
  long long from;
  long long to;
  long long num_values;
  long long num_room;
};

__device__ Segment segment_of(const GatherBatch& batch, int index) {
  const long long mels = batch.num_mels;
  return {batch.begins[index] * mels, batch.out_begins[index] * mels, batch.lengths[index] * mels,
          batch.rooms[index] * mels};
}

// Values between two number formats, one at a time.
template <class From, class To>
__global__ void convert_segments(GatherBatch batch) {
  const Segment segment = segment_of(batch, static_cast<int>(blockIdx.x));
  const From* from = static_cast<const From*>(batch.rows) + segment.from;
  To* to = static_cast<To*>(batch.out) + segment.to;
  const To padding = narrow<To>(batch.padding);
  const long long first = batch.rows == nullptr ? segment.num_values : 0;
  for (long long i = first + blockIdx.y * blockDim.x + threadIdx.x; i < segment.num_room;
       i += static_cast<long long>(gridDim.y) * blockDim.x) {
    to[i] = i < segment.num_values ? narrow<To>(widen(from[i])) : padding;
  }
}

// The same format on both sides: whole vectors of V, which every frame is a multiple of.
template <class T, class V>
__global__ void copy_segments(GatherBatch batch) {
  constexpr int kValues = sizeof(V) / sizeof(T);
  const Segment segment = segment_of(batch, static_cast<int>(blockIdx.x));
  const V* from = reinterpret_cast<const V*>(static_cast<const T*>(batch.rows) + segment.from);
  V* to = reinterpret_cast<V*>(static_cast<T*>(batch.out) + segment.to);
  V padding;
  for (int i = 0; i < kValues; ++i) reinterpret_cast<T*>(&padding)[i] = narrow<T>(batch.padding);
  const long long num_vectors = segment.num_values / kValues;
  const long long num_room = segment.num_room / kValues;
  const long long first = batch.rows == nullptr ? num_vectors : 0;
  for (long long i = first + blockIdx.y * blockDim.x + threadIdx.x; i < num_room;
       i += static_cast<long long>(gridDim.y) * blockDim.x) {
    to[i] = i < num_vectors ? __ldcs(from + i) : padding;
  }
}

template <class T>
void launch_copy(const GatherBatch& batch, dim3 grid, cudaStream_t stream) {
  const std::size_t frame_bytes = batch.num_mels * sizeof(T);
  if (frame_bytes % sizeof(uint4) == 0) {
    copy_segments<T, uint4><<<grid, kThreads, 0, stream>>>(batch);
  } else if (frame_bytes % sizeof(unsigned) == 0) {
    copy_segments<T, unsigned><<<grid, kThreads, 0, stream>>>(batch);
  } else {
    convert_segments<T, T><<<grid, kThreads, 0, stream>>>(batch);
  }
}

template <class From>
void launch_from(const GatherBatch& batch, dim3 grid, cudaStream_t stream) {
  if (batch.from == batch.to) return launch_copy<From>(batch, grid, stream);
  switch (batch.to) {
    case config::MelDtype::kF32:
      convert_segments<From, float><<<grid, kThreads, 0, stream>>>(batch);
      break;
    case config::MelDtype::kF16:
      convert_segments<From, __half><<<grid, kThreads, 0, stream>>>(batch);
      break;
    case config::MelDtype::kBf16:
      convert_segments<From, __nv_bfloat16><<<grid, kThreads, 0, stream>>>(batch);
      break;
  }
}

}  // namespace

void gather_pad_on_device(const GatherBatch& batch, cuda::StreamView stream) {
  if (batch.num_segments == 0) return;
  const dim3 grid(static_cast<unsigned>(batch.num_segments), kBlocksPerSegment);
  switch (batch.from) {
    case config::MelDtype::kF32:
      launch_from<float>(batch, grid, stream.handle());
      break;
    case config::MelDtype::kF16:
      launch_from<__half>(batch, grid, stream.handle());
      break;
    case config::MelDtype::kBf16:
      launch_from<__nv_bfloat16>(batch, grid, stream.handle());
      break;
  }
  cuda::call("gather_pad", [] { return cudaGetLastError(); });
}

void load_gather_pad() {
  cudaFuncAttributes attributes{};
  cuda::call("cudaFuncGetAttributes",
             [&] { return cudaFuncGetAttributes(&attributes, copy_segments<__half, uint4>); });
}

}  // namespace stoker::feed
