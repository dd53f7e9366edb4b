// The general variant: any transform length, hop and window. A block computes a few neighbouring
// frames at a time with the transform in shared memory: Stockham stages of n/2 complex points for
// an even length, the definition itself for an odd one.
#include <cuda_runtime.h>

#include <type_traits>

#include "stoker/audio/mel/cuda/fft32.cuh"
#include "stoker/audio/mel/cuda/kernels.h"
#include "stoker/audio/mel/cuda/tile.cuh"

namespace stoker::audio::device {
namespace {

// Stockham stages of any radix in shared memory, several transforms side by side.
template <class Real>
struct StageRun {
  const Complex<Real>* from;
  Complex<Real>* to;
  int num_points;  // of one transform
  int num_frames;
  int num_threads;
};

template <class Real>
__device__ __forceinline__ Complex<Real> product(Complex<Real> a, Complex<Real> w) {
  return {multiply_add(-a.im, w.im, a.re * w.re), multiply_add(a.im, w.re, a.re * w.im)};
}

template <class Real>
__device__ __forceinline__ Complex<Real> root_at(const void* table, int index) {
  using Pair = std::conditional_t<sizeof(Real) == 4, float2, double2>;
  const Pair pair = __ldg(static_cast<const Pair*>(table) + index);
  return {pair.x, pair.y};
}

// exp(-2*pi*i*k/radix)
template <int kRadix, class Real>
__device__ __forceinline__ constexpr Complex<Real> small_root(int k) {
  double cosine = 1.0, sine = 0.0;
  if constexpr (kRadix == 2) cosine = k == 0 ? 1.0 : -1.0;
  if constexpr (kRadix == 3) {
    cosine = k == 0 ? 1.0 : -0.5;
    sine = k == 0 ? 0.0 : k == 1 ? -0.86602540378443864676 : 0.86602540378443864676;
  }
  if constexpr (kRadix == 4) {
    cosine = k == 0 ? 1.0 : k == 2 ? -1.0 : 0.0;
    sine = k == 1 ? -1.0 : k == 3 ? 1.0 : 0.0;
  }
  if constexpr (kRadix == 5) {
    const bool is_outer = k == 1 || k == 4;
    const double size = is_outer ? 0.95105651629515357212 : 0.58778525229247312917;
    cosine = k == 0 ? 1.0 : is_outer ? 0.30901699437494742410 : -0.80901699437494742410;
    sine = k == 0 ? 0.0 : k <= 2 ? -size : size;
  }
  return {static_cast<Real>(cosine), static_cast<Real>(sine)};
}

// Butterfly p of column q of one transform: reads every m*stride-th value, writes neighbours.
template <int kRadix, class Real>
__device__ __forceinline__ void small_butterfly(const GeneralStage& stage,
                                                const Complex<Real>* from, Complex<Real>* to, int p,
                                                int q) {
  const int m = stage.length / kRadix;
  Complex<Real> x[kRadix];
#pragma unroll
  for (int j = 0; j < kRadix; ++j) x[j] = from[(p + j * m) * stage.stride + q];
#pragma unroll
  for (int k = 0; k < kRadix; ++k) {
    Complex<Real> sum = x[0];
#pragma unroll
    for (int j = 1; j < kRadix; ++j)
      sum = add_product(sum, small_root<kRadix, Real>(j * k % kRadix), x[j]);
    if (k > 0) sum = product(sum, root_at<Real>(stage.twiddles, p * (kRadix - 1) + k - 1));
    to[(p * kRadix + k) * stage.stride + q] = sum;
  }
}

template <int kRadix, class Real>
__device__ void run_small_stage(const GeneralStage& stage, const StageRun<Real>& run) {
  const int per_frame = run.num_points / kRadix;
  for (int i = static_cast<int>(threadIdx.x); i < run.num_frames * per_frame;
       i += run.num_threads) {
    const int first = i / per_frame * run.num_points;
    const int p = i % per_frame / stage.stride;
    const int q = i % per_frame % stage.stride;
    small_butterfly<kRadix>(stage, run.from + first, run.to + first, p, q);
  }
}

// Long sums in two levels keep their rounding small.
constexpr int kSumLength = 64;

// Any radix by its definition, one output a thread.
template <class Real>
__device__ void run_any_stage(const GeneralStage& stage, const StageRun<Real>& run) {
  const int radix = stage.radix;
  const int m = stage.length / radix;
  for (int i = static_cast<int>(threadIdx.x); i < run.num_frames * run.num_points;
       i += run.num_threads) {
    const int first = i / run.num_points * run.num_points;
    const int q = i % run.num_points % stage.stride;
    const int k = i % run.num_points / stage.stride % radix;
    const int p = i % run.num_points / stage.stride / radix;
    Complex<Real> sum{};
    int turn = 0;
    for (int begin = 0; begin < radix; begin += kSumLength) {
      Complex<Real> part{};
      for (int j = begin; j < min(begin + kSumLength, radix); ++j) {
        const Complex<Real> x = run.from[first + (p + j * m) * stage.stride + q];
        part = add_product(part, root_at<Real>(stage.roots, turn), x);
        turn += k;
        if (turn >= radix) turn -= radix;
      }
      sum = {sum.re + part.re, sum.im + part.im};
    }
    if (k > 0) sum = product(sum, root_at<Real>(stage.twiddles, p * (radix - 1) + k - 1));
    run.to[first + (p * radix + k) * stage.stride + q] = sum;
  }
}

template <class Real>
__device__ __forceinline__ void run_stage(const GeneralStage& stage, const StageRun<Real>& run) {
  switch (stage.radix) {
    case 2:
      return run_small_stage<2>(stage, run);
    case 3:
      return run_small_stage<3>(stage, run);
    case 4:
      return run_small_stage<4>(stage, run);
    case 5:
      return run_small_stage<5>(stage, run);
    default:
      return run_any_stage(stage, run);
  }
}

// Bin k of the 2n real values that were packed as n complex ones: even and odd part taken apart.
template <class Real>
__device__ __forceinline__ Complex<Real> real_bin(const Complex<Real>* points,
                                                  const GeneralMelTask& general, int k) {
  constexpr Real kHalf{0.5};
  const int n = general.row_values / 2;
  const Complex<Real> z = points[k == n ? 0 : k];
  const Complex<Real> mirror = points[k == 0 || k == n ? 0 : n - k];
  const Complex<Real> even = {kHalf * (z.re + mirror.re), kHalf * (z.im - mirror.im)};
  const Complex<Real> odd = {kHalf * (z.im + mirror.im), kHalf * (mirror.re - z.re)};
  return add_product(even, root_at<Real>(general.roots, k), odd);
}

// Bin k of real values by the definition; roots[j] = exp(-2*pi*i*j/n_fft).
template <class Real>
__device__ __forceinline__ Complex<Real> bin_by_definition(const Real* values,
                                                           const GeneralMelTask& general, int k) {
  Complex<Real> sum{};
  int turn = 0;
  for (int begin = 0; begin < general.win_samples; begin += kSumLength) {
    Complex<Real> part{};
    for (int i = begin; i < min(begin + kSumLength, general.win_samples); ++i) {
      const auto root = root_at<Real>(general.roots, turn);
      part = {multiply_add(values[i], root.re, part.re), multiply_add(values[i], root.im, part.im)};
      turn += k;
      if (turn >= general.n_fft) turn -= general.n_fft;
    }
    sum = {sum.re + part.re, sum.im + part.im};
  }
  return sum;
}

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
