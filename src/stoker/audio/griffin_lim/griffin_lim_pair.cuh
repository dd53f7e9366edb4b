// Two frames of Griffin-Lim in one block of threads, in the pairing of StftLanes, so that every
// rounding is the CPU's: from samples to a spectrum and back.
#pragma once

#include "stoker/audio/griffin_lim/device_fft1024.cuh"
#include "stoker/audio/griffin_lim/griffin_lim_tables.cuh"

namespace stoker::audio {

// Two frames that share one complex transform, as in StftLanes.
struct FramePair {
  long long early_row;  // in arrays of [utterances, padded_frames]
  int early;
  int late;
  bool has_early;
  bool has_late;
};

__device__ inline FramePair pair_of_block(const GriffinLimJob& job) {
  constexpr int kHalf = static_cast<int>(kFftLanes);
  const int index = static_cast<int>(blockIdx.x);
  const int early = index / kHalf * 2 * kHalf + index % kHalf;
  const int num_frames = frames_of(job);
  const long long row = static_cast<long long>(blockIdx.y) * job.padded_frames + early;
  return {row, early, early + kHalf, early < num_frames, early + kHalf < num_frames};
}

// Shared memory of a block.
struct PairMemory {
  SharedSignal signal;
  SharedSignal other;
  float* early_ratios;  // one a band
  float* late_ratios;
};

__host__ __device__ inline int pair_floats(const GriffinLimTables& tables) {
  return 4 * slots_for(tables.fft.num_points) + 2 * tables.num_mels;
}

__device__ inline PairMemory pair_memory(const GriffinLimTables& tables, float* shared) {
  const int slots = slots_for(tables.fft.num_points);
  float* ratios = shared + 4 * slots;
  return {{shared, shared + slots},
          {shared + 2 * slots, shared + 3 * slots},
          ratios,
          ratios + tables.num_mels};
}

// Packs bin k of both frames into the complex spectrum of one transform.
__device__ inline void pack_bin(const DeviceFft& fft, int k, const BinValue& early,
                                const BinValue& late, SharedSignal out) {
  const int mirror = k == 0 ? 0 : fft.num_points - k;
  const bool alone = mirror == k;  // the imaginary parts of bins 0 and n/2 cannot be heard
  const float early_im = alone ? 0.0F : early.imaginary;
  const float late_im = alone ? 0.0F : late.imaginary;
  store(out, mirror, {early.real + late_im, late.real - early_im});
  store(out, k, {early.real - late_im, early_im + late.real});
}

// The kernels that transform are templates over kPoints: 1024, or 0 for any other size.

struct BinPair {
  BinValue early;
  BinValue late;
};

// With z = x + i y: X[k] = (Z[k] + conj Z[-k]) / 2 and Y[k] = (Z[k] - conj Z[-k]) / 2i.
__device__ inline BinPair unpack_bin(const DeviceFft& fft, int k, SharedSignal in) {
  const DeviceComplex z = load(in, k);
  const DeviceComplex m = load(in, k == 0 ? 0 : fft.num_points - k);
  return {{0.5F * (z.re + m.re), 0.5F * (z.im - m.im)},
          {0.5F * (z.im + m.im), 0.5F * (m.re - z.re)}};
}

template <int kPoints>
__device__ inline void write_frames(const GriffinLimTables& tables, const GriffinLimJob& job,
                                    const FramePair& pair, PairMemory& memory) {
  __syncthreads();
  const int n = tables.fft.num_points;
  float* early = job.frames + pair.early_row * n;
  float* late = early + static_cast<long long>(kFftLanes) * n;
  // Back to samples, windowed, for the sum of overlapping frames.
  const auto write = [&](int i, const DeviceComplex& value) {
    early[i] = value.re * tables.synthesis_window[i];
    if (pair.has_late) late[i] = value.im * tables.synthesis_window[i];
  };
  if constexpr (kPoints == 1024) {
    const auto store = [&](int index, int offset, const DeviceComplex& value) {
      write(index + offset, {value.im, value.re});
    };
    const SharedSignal spectrum = swapped(memory.signal);
    fft1024(tables.fft.twiddles, AddedSlots{spectrum}, store, swapped(memory.other), spectrum);
  } else {
    fft_backward(tables.fft, memory.signal, memory.other);
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
      write(i, load(memory.signal, i));
  }
}

// The spectrum of the pair's windowed samples, into `memory.signal`; ends with a barrier.
template <int kPoints>
__device__ inline void read_spectrum(const GriffinLimTables& tables, const GriffinLimJob& job,
                                     const FramePair& pair, PairMemory& memory) {
  const float* early = signal_of_block(job) + pair.early * tables.hop_samples;
  const float* late = early + static_cast<int>(kFftLanes) * tables.hop_samples;
  const auto sample = [&](int i) {
    return DeviceComplex{early[i] * tables.window[i], late[i] * tables.window[i]};
  };
  if constexpr (kPoints == 1024) {
    const auto load = [&](int index, int offset) { return sample(index + offset); };
    fft1024(tables.fft.twiddles, load, AddedSlots{memory.signal}, memory.signal, memory.other);
    __syncthreads();
  } else {
    for (int i = static_cast<int>(threadIdx.x); i < tables.fft.num_points;
         i += static_cast<int>(blockDim.x))
      store(memory.signal, i, sample(i));
    __syncthreads();
    fft_forward(tables.fft, memory.signal, memory.other);
  }
}

}  // namespace stoker::audio
