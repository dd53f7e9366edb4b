// The kernels of Griffin-Lim that work on samples and bands: what is wanted, the sum of overlapping
// frames, and the way out.
#pragma once

#include "stoker/audio/griffin_lim/griffin_lim_tables.cuh"

namespace stoker::audio {

// The wanted bands, from the recipe's values; one thread a value.
__global__ void wanted_kernel(const __grid_constant__ GriffinLimTables tables,
                              const __grid_constant__ GriffinLimJob job) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at >= frames_of(job) * tables.num_mels) return;
  const long long row = static_cast<long long>(blockIdx.y) * job.padded_frames;
  const long long i = row * tables.num_mels + at;
  double value = job.log_mel[i];
  if (tables.divisors != nullptr) value *= tables.divisors[at % tables.num_mels];
  job.wanted[i] = mel_energy(tables.undo, value);
}

// First frame and number of the frames that cover a sample of the padded signal.
struct FrameRange {
  int first;
  int end;
};

__device__ inline FrameRange frames_over(const GriffinLimTables& tables, int sample,
                                         int num_frames) {
  const int before = sample - tables.fft.num_points + 1;
  const int first = before <= 0 ? 0 : (before + tables.hop_samples - 1) / tables.hop_samples;
  const int end = sample / tables.hop_samples + 1;
  return {first, end < num_frames ? end : num_frames};
}

// How much of each sample the overlapping windows bring; its inverse undoes them.
__global__ void envelope_kernel(const __grid_constant__ GriffinLimTables tables,
                                const __grid_constant__ GriffinLimJob job) {
  const int sample = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (sample >= job.signal_samples) return;
  const FrameRange over = frames_over(tables, sample, frames_of(job));
  float sum = 0;
  for (int t = over.first; t < over.end; ++t) {
    const float value = tables.window[sample - t * tables.hop_samples];
    sum += value * value;
  }
  envelope_of_block(job)[sample] = inverse_envelope(sum);
}

// Where a sample of the padded signal comes from; -1: silence.
__device__ inline int source_of(const GriffinLimTables& tables, int sample, int num_samples) {
  const int end = tables.padding + num_samples;
  if (sample >= tables.padding && sample < end) return sample;
  if (!tables.reflects || num_samples <= tables.padding) return -1;
  if (sample < tables.padding) return 2 * tables.padding - sample;
  return sample < end + tables.padding ? 2 * (end - 1) - sample : -1;
}

// Adds the frames up, each sample by one thread and in the order of time.
__global__ void overlap_kernel(const __grid_constant__ GriffinLimTables tables,
                               const __grid_constant__ GriffinLimJob job) {
  const int num_frames = frames_of(job);
  const int sample = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (sample >= job.signal_samples || num_frames == 0) return;
  const int source = source_of(tables, sample, samples_of(tables, num_frames));
  float sum = 0;
  if (source >= 0) {
    const int n = tables.fft.num_points;
    const float* frames = job.frames + static_cast<long long>(blockIdx.y) * job.padded_frames * n;
    const FrameRange over = frames_over(tables, source, num_frames);
    for (int t = over.first; t < over.end; ++t)
      sum += frames[static_cast<long long>(t) * (n - tables.hop_samples) + source];
    sum *= envelope_of_block(job)[source];
  }
  signal_of_block(job)[sample] = sum;
}

// Out of the padded signal, the recipe's scale undone; silence after the utterance's end.
__global__ void finish_kernel(const __grid_constant__ GriffinLimTables tables,
                              const __grid_constant__ GriffinLimJob job) {
  const long long sample = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (sample >= job.padded_samples) return;
  const int num_samples = samples_of(tables, frames_of(job));
  const float* signal = signal_of_block(job) + tables.padding;
  job.samples[blockIdx.y * job.padded_samples + sample] =
      sample < num_samples ? signal[sample] * tables.out_scale : 0.0F;
}

// Undoes pre-emphasis: each sample needs the one before, so one thread walks through an utterance
// while the others carry.
__global__ void deemphasis_kernel(const __grid_constant__ GriffinLimTables tables,
                                  const __grid_constant__ GriffinLimJob job) {
  constexpr int kTile = 1024;
  __shared__ float tile[kTile];
  const long long num_samples = samples_of(tables, frames_of(job));
  const long long count = num_samples < job.padded_samples ? num_samples : job.padded_samples;
  float* samples = job.samples + blockIdx.y * job.padded_samples;
  const int step = static_cast<int>(blockDim.x);
  float before = 0;
  for (long long first = 0; first < count; first += kTile) {
    const int size = count - first < kTile ? static_cast<int>(count - first) : kTile;
    for (int i = static_cast<int>(threadIdx.x); i < size; i += step) tile[i] = samples[first + i];
    __syncthreads();
    for (int i = 0; threadIdx.x == 0 && i < size; ++i) {
      if (first + i > 0) tile[i] += tables.emphasis * before;
      before = tile[i];
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < size; i += step) samples[first + i] = tile[i];
    __syncthreads();
  }
}

}  // namespace stoker::audio
