// The steps after the logarithm on the GPU: an utterance's range, offset, scale, divisors, dtype.
#include <cuda_runtime.h>

#include <algorithm>

#include "stoker/audio/mel/cuda/kernels.h"
#include "stoker/audio/mel/cuda/tile.cuh"
#include "stoker/cuda/check.h"

namespace stoker::audio::device {
namespace {

constexpr int kThreads = 256;
constexpr float kSmallestRange = 1e-6F;  // as in mel_finish.cc

__global__ void clear_ranges(int* ranges, int num_utterances) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i < num_utterances) {
    ranges[2 * i] = ordered_bits(INFINITY);
    ranges[2 * i + 1] = ordered_bits(-INFINITY);
  }
}

__device__ float from_ordered_bits(int bits) {
  return __int_as_float(bits >= 0 ? bits : bits ^ 0x7FFFFFFF);
}

__device__ __forceinline__ float finished(const MelFinishTask& finish, float x, int band,
                                          float lowest, float highest) {
  if (finish.range == config::MelRange::kBelowMax) x = fmaxf(x, highest - finish.below_max);
  if (finish.range == config::MelRange::kMinMax) {
    x = __fdiv_rn(x - lowest, fmaxf(highest - lowest, kSmallestRange));
  }
  x = __fmul_rn(x + finish.offset, finish.scale);
  return finish.divisors == nullptr ? x : __fdiv_rn(x, finish.divisors[band]);
}

// Block (x, y): a stretch of the values of utterance y. In place when both dtypes are f32.
__global__ void finish_mel(const MelFinishTask finish, const DeviceMelTask task) {
  const int utterance = static_cast<int>(blockIdx.y);
  const int num_values = frames_of(task, task.lengths[utterance]) * task.num_mels;
  const int num_padded = task.padded_frames * task.num_mels;
  // In place the padding is there already.
  const int num_written = finish.values == finish.mel ? num_values : num_padded;
  const float lowest =
      finish.ranges == nullptr ? 0.0F : from_ordered_bits(finish.ranges[2 * utterance]);
  const float highest =
      finish.ranges == nullptr ? 0.0F : from_ordered_bits(finish.ranges[2 * utterance + 1]);
  const std::int64_t first = static_cast<std::int64_t>(utterance) * num_padded;
  for (int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
       i < num_written; i += static_cast<int>(gridDim.x) * kThreads) {
    const float value = i < num_values ? finished(finish, finish.values[first + i],
                                                  i % task.num_mels, lowest, highest)
                                       : task.padding;
    if (finish.out == config::MelDtype::kF32) {
      static_cast<float*>(finish.mel)[first + i] = value;
    } else {
      static_cast<std::uint16_t*>(finish.mel)[first + i] = narrow_bits(finish.out, value);
    }
  }
}

}  // namespace

void launch_clear_ranges(int* ranges, int num_utterances, cuda::StreamHandle stream) {
  const int num_blocks = (num_utterances + kThreads - 1) / kThreads;
  clear_ranges<<<static_cast<unsigned>(num_blocks), kThreads, 0, stream>>>(ranges, num_utterances);
  cuda::call("the launch of clear_ranges", [] { return cudaGetLastError(); });
}

void launch_finish(const MelFinishTask& finish, const DeviceMelTask& task,
                   cuda::StreamHandle stream) {
  const int num_values = task.padded_frames * task.num_mels;
  const int num_blocks = std::min(64, (num_values + 8 * kThreads - 1) / (8 * kThreads));
  // The y dimension of a grid ends at 65,535.
  for (int first = 0; first < task.num_utterances; first += 65535) {
    MelFinishTask part_finish = finish;
    DeviceMelTask part = task;
    const std::int64_t skipped = static_cast<std::int64_t>(first) * num_values;
    part.lengths += first;
    part_finish.values += skipped;
    part_finish.mel = static_cast<char*>(finish.mel) +
                      skipped * static_cast<std::int64_t>(config::bytes_per_value(finish.out));
    if (finish.ranges != nullptr) part_finish.ranges += 2 * first;
    const dim3 grid(static_cast<unsigned>(num_blocks),
                    static_cast<unsigned>(std::min(65535, task.num_utterances - first)));
    finish_mel<<<grid, kThreads, 0, stream>>>(part_finish, part);
    cuda::call("the launch of finish_mel", [] { return cudaGetLastError(); });
  }
}

}  // namespace stoker::audio::device
