// The general variant: any transform length, hop and window. A block computes a few neighbouring
// frames at a time with the transform in shared memory: Stockham stages of n/2 complex points for
// an even length, the definition itself for an odd one.
#include <cuda_runtime.h>

#include "stoker/audio/mel/cuda/device_mel_kernels.h"
#include "stoker/audio/mel/cuda/general_fft_cuda.cuh"
#include "stoker/audio/mel/cuda/mel_tile_cuda.cuh"

namespace stoker::audio::device {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// Where a block keeps its frames. `values` holds num_frames rows of row_values (complex points as
// pairs); `other` as much again.
template <class Real>
struct Frames {
  Real* values;
  Real* other;
  Real* means;  // [frames]
  int num_frames;
  int row_values;
};

template <class Sample, class Real>
__device__ Real sample_at(const DeviceMelTask& task, const MelTile& tile, int position) {
  const auto* const samples = static_cast<const Sample*>(task.samples) + tile.begin;
  const int fitted = task.fit_samples > 0 ? task.fit_samples : tile.num_samples;
  const int source = source_of(position, fitted, task.reflects != 0);
  return source < 0 || source >= tile.num_samples ? Real{} : real_sample<Real>(samples[source]);
}

template <class Sample, class Real>
__device__ void find_means(const DeviceMelTask& task, const MelTile& tile,
                           const Frames<Real>& frames) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int f = static_cast<int>(threadIdx.x) / 32; f < tile.num_frames; f += kWarps) {
    const int start = task.first_start + (tile.first_frame + f) * task.hop_samples;
    Real sum{};
    for (int i = lane; i < task.general.win_samples; i += 32) {
      sum += sample_at<Sample, Real>(task, tile, start + i);
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFFU, sum, step);
    if (lane == 0) frames.means[f] = sum / static_cast<Real>(task.general.win_samples);
  }
  __syncthreads();
}

// Samples, less the mean, pre-emphasised and windowed; zeros after the window.
template <class Sample, class Real>
__device__ void load_frames(const DeviceMelTask& task, const MelTile& tile,
                            const Frames<Real>& frames) {
  const GeneralMelTask& general = task.general;
  if (general.removes_dc != 0) find_means<Sample>(task, tile, frames);
  for (int i = static_cast<int>(threadIdx.x); i < tile.num_frames * frames.row_values;
       i += kThreads) {
    const int f = i / frames.row_values;
    const int n = i % frames.row_values;
    Real x{};
    if (n < general.win_samples) {
      const int start = task.first_start + (tile.first_frame + f) * task.hop_samples;
      const Real mean = general.removes_dc != 0 ? frames.means[f] : Real{};
      x = sample_at<Sample, Real>(task, tile, start + n) - mean;
      if (general.preemphasis != 0.0) {
        const Real before = sample_at<Sample, Real>(task, tile, start + max(n - 1, 0)) - mean;
        x = multiply_add(static_cast<Real>(-general.preemphasis), before, x);
      }
      x *= __ldg(static_cast<const Real*>(task.window) + n);
    }
    frames.values[i] = x;
  }
  __syncthreads();
}

// Magnitudes of the bins that filters use, into `to`: [frames][end_bin].
template <class BinAt>
__device__ void write_sizes(const DeviceMelTask& task, const MelTile& tile, float* to,
                            BinAt bin_at) {
  const int num_bins = task.end_bin - task.first_bin;
  for (int i = static_cast<int>(threadIdx.x); i < tile.num_frames * num_bins; i += kThreads) {
    const int f = i / num_bins;
    const int k = task.first_bin + i % num_bins;
    to[f * task.end_bin + k] = size_of<0>(task, bin_at(f, k));
  }
  __syncthreads();
}

// Returns where the magnitudes are.
template <class Real>
__device__ const float* transform(const DeviceMelTask& task, const MelTile& tile,
                                  const Frames<Real>& frames) {
  const GeneralMelTask& general = task.general;
  if (general.num_stages == 0) {
    auto* const sizes = reinterpret_cast<float*>(frames.other);
    write_sizes(task, tile, sizes, [&](int f, int k) {
      return bin_by_definition(frames.values + f * frames.row_values, general, k);
    });
    return sizes;
  }
  auto* from = reinterpret_cast<Complex<Real>*>(frames.values);
  auto* to = reinterpret_cast<Complex<Real>*>(frames.other);
  for (int s = 0; s < general.num_stages; ++s) {
    run_stage<Real>(general.stages[s], {.from = from,
                                        .to = to,
                                        .num_points = frames.row_values / 2,
                                        .num_frames = tile.num_frames,
                                        .num_threads = kThreads});
    __syncthreads();
    Complex<Real>* const done = to;
    to = from;
    from = done;
  }
  auto* const sizes = reinterpret_cast<float*>(to);
  write_sizes(task, tile, sizes,
              [&](int f, int k) { return real_bin(from + f * frames.row_values / 2, general, k); });
  return sizes;
}

__device__ float band_sum(const DeviceMelTask& task, const float* bins, int band) {
  const auto* const weights = reinterpret_cast<const float2*>(task.weights) - task.first_bin;
  const int middle = task.segments[band + 1];
  const int end = task.segments[band + 2];
  float sum = 0.0F;
  for (int k = task.segments[band]; k < middle; ++k) sum = fmaf(bins[k], __ldg(weights + k).y, sum);
  for (int k = middle; k < end; ++k) sum = fmaf(bins[k], __ldg(weights + k).x, sum);
  return sum;
}

__device__ void write_mel(const DeviceMelTask& task, const MelTile& tile, const float* sizes) {
  const std::int64_t first = first_value(task, tile);
  float lowest = INFINITY;
  float highest = -INFINITY;
  for (int i = static_cast<int>(threadIdx.x); i < tile.num_rows * task.num_mels; i += kThreads) {
    const int f = i / task.num_mels;
    float value = task.padding;
    if (f < tile.num_frames) {
      value = compressed(task, band_sum(task, sizes + f * task.end_bin, i % task.num_mels));
      lowest = fminf(lowest, value);
      highest = fmaxf(highest, value);
    }
    store_value(task, first + i, value);
  }
  if (task.ranges != nullptr) widen_range(task.ranges + 2 * tile.utterance, lowest, highest);
}

template <class Sample, class Real>
__global__ void __launch_bounds__(kThreads) log_mel_general(const DeviceMelTask task) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const values = reinterpret_cast<Real*>(memory);
  const int tile_frames = task.general.tile_frames;
  const int row_values = task.general.row_values;
  const Frames<Real> frames{.values = values,
                            .other = values + tile_frames * row_values,
                            .means = values + 2 * tile_frames * row_values,
                            .num_frames = tile_frames,
                            .row_values = row_values};
  const int per_utterance = (task.padded_frames + tile_frames - 1) / tile_frames;
  const int num_tiles = task.num_utterances * per_utterance;
  for (int index = static_cast<int>(blockIdx.x); index < num_tiles;
       index += static_cast<int>(gridDim.x)) {
    const MelTile tile = tile_at(task, index, tile_frames);
    const float* sizes = nullptr;
    if (tile.num_frames > 0) {
      load_frames<Sample>(task, tile, frames);
      sizes = transform(task, tile, frames);
    }
    write_mel(task, tile, sizes);
    __syncthreads();
  }
}

template <class Sample, class Real>
MelKernel kernel_of(const GeneralMelTask& general) {
  const auto num_values = (2 * static_cast<std::size_t>(general.row_values) + 1) *
                          static_cast<std::size_t>(general.tile_frames);
  return {.function = reinterpret_cast<const void*>(&log_mel_general<Sample, Real>),
          .num_threads = kThreads,
          .blocks_per_multiprocessor = 4,
          .tile_frames = general.tile_frames,
          .shared_bytes = num_values * sizeof(Real),
          .waits_by_itself = false,
          .parts = {.num_parts = 1, .align = 1}};
}

}  // namespace

MelKernel general_kernel(const MelKernelChoice& choice, const GeneralMelTask& general) {
  if (choice.in == SampleType::kF32) {
    return choice.is_f64 ? kernel_of<float, double>(general) : kernel_of<float, float>(general);
  }
  return choice.is_f64 ? kernel_of<std::int16_t, double>(general)
                       : kernel_of<std::int16_t, float>(general);
}

}  // namespace stoker::audio::device
