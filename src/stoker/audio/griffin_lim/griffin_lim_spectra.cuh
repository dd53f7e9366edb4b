// The kernels of Griffin-Lim that work on spectra. A block has two frames in the pairing of
// StftLanes, so that every rounding is the CPU's.
#pragma once

#include "stoker/audio/griffin_lim/griffin_lim_plan.cuh"
#include "stoker/audio/griffin_lim/lane_fft.cuh"

namespace stoker::audio {

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

// What transforms is a template over kPoints: 1024, or 0 for any other size.
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

// gain of a bin = its bands' ratios, weighted: (W' ratio) / (W' 1).
__device__ inline float spread(const BinBands& bands, const BinWeights& weights,
                               const float* ratios) {
  float sum = weights.of[0] * ratios[bands.at[0]];
#pragma unroll
  for (int i = 1; i < kMaxBinBands; ++i) sum += weights.of[i] * ratios[bands.at[i]];
  return sum * weights.share;
}

// The first guess: magnitudes spread from the wanted bands, phases drawn by key.
__device__ inline BinValue first_bin(const GriffinLimTables& tables, int frame, int bin,
                                     const float* ratios) {
  constexpr int kLanes = static_cast<int>(kFrameLanes);
  const float gain = spread(tables.bin_bands[bin], tables.bin_weights[bin], ratios);
  const float magnitude = tables.update.is_power ? std::sqrt(gain) : gain;
  const auto draw = static_cast<std::uint32_t>(bin * kLanes + frame % kLanes);
  const PhiloxCounter words =
      philox4x32_10({draw / 4, 0, static_cast<std::uint32_t>(frame / kLanes), 0}, tables.phase_key);
  const BinValue phase = tables.circle[words[draw % 4] % kPhaseAngles];
  return {magnitude * phase.real, magnitude * phase.imaginary};
}

template <int kPoints>
__global__ void first_kernel(const __grid_constant__ GriffinLimTables tables,
                             const __grid_constant__ GriffinLimJob job) {
  extern __shared__ float shared[];
  const FramePair pair = pair_of_block(job);
  if (!pair.has_early) return;
  PairMemory memory = pair_memory(tables, shared);
  const float* early = job.wanted + pair.early_row * tables.num_mels;
  const float* late = early + static_cast<long long>(kFftLanes) * tables.num_mels;
  const int step = static_cast<int>(blockDim.x);
  for (int band = static_cast<int>(threadIdx.x); band < tables.num_mels; band += step) {
    memory.early_ratios[band] = early[band] * tables.band_share[band];
    if (pair.has_late) memory.late_ratios[band] = late[band] * tables.band_share[band];
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < tables.num_bins; k += step) {
    const BinValue shown = first_bin(tables, pair.early, k, memory.early_ratios);
    const BinValue beside =
        pair.has_late ? first_bin(tables, pair.late, k, memory.late_ratios) : BinValue{0, 0};
    pack_bin(tables.fft, k, shown, beside, memory.signal);
  }
  write_frames<kPoints>(tables, job, pair, memory);
}

// The ratio of every wanted band to what the frames have; magnitudes are in `memory.other`.
__device__ inline void find_ratios(const GriffinLimTables& tables, const GriffinLimJob& job,
                                   const FramePair& pair, const PairMemory& memory) {
  const float* wanted = job.wanted + pair.early_row * tables.num_mels;
  for (int task = static_cast<int>(threadIdx.x); task < 2 * tables.num_mels;
       task += static_cast<int>(blockDim.x)) {
    const bool is_late = task >= tables.num_mels;
    if (is_late && !pair.has_late) return;
    const int band = is_late ? task - tables.num_mels : task;
    const float* magnitudes = is_late ? memory.other.imaginary : memory.other.real;
    const BandBins bins = tables.band_bins[band];
    const float* weights = tables.band_weights + band;
    float sum = 0;
    for (int i = 0; i < bins.count; ++i)
      sum += weights[i * tables.num_mels] * magnitudes[bins.first + i];
    const long long row = is_late ? static_cast<long long>(kFftLanes) * tables.num_mels : 0;
    (is_late ? memory.late_ratios : memory.early_ratios)[band] =
        band_ratio(wanted[row + band], sum);
  }
}

// One bin of one frame, found in the signal's spectrum, and its bands.
struct FoundBin {
  const BinBands& bands;
  const BinWeights& weights;
  BinValue now;
  BinValue seen;
  float magnitude;
};

// Its magnitude from the bands, its phase from spectrum and momentum.
__device__ inline BinValue shown_bin(const FoundBin& found, const float* ratios,
                                     const BinUpdate& how) {
  const float scaled = found.weights.share > 0
                           ? found.magnitude * spread(found.bands, found.weights, ratios)
                           : unheard(found.magnitude);
  return turned_bin(found.now, found.seen, scaled, how);
}

enum class Round : int { kFirst, kLater };

// One round of two frames: spectrum of the signal, new magnitudes and phases, back to samples.
template <int kPoints>
__global__ void round_kernel(const __grid_constant__ GriffinLimTables tables,
                             const __grid_constant__ GriffinLimJob job, Round round) {
  extern __shared__ float shared[];
  const FramePair pair = pair_of_block(job);
  if (!pair.has_early) return;
  PairMemory memory = pair_memory(tables, shared);
  const int begin = static_cast<int>(threadIdx.x);
  const int step = static_cast<int>(blockDim.x);
  read_spectrum<kPoints>(tables, job, pair, memory);
  for (int k = begin; k < tables.num_bins; k += step) {
    const BinPair now = unpack_bin(tables.fft, k, memory.signal);
    memory.other.real[k] = bin_magnitude(now.early, tables.update);
    memory.other.imaginary[k] = bin_magnitude(now.late, tables.update);
  }
  __syncthreads();
  find_ratios(tables, job, pair, memory);
  __syncthreads();
  BinValue* early_seen = job.seen + pair.early_row * tables.num_bins;
  BinValue* late_seen = early_seen + static_cast<long long>(kFftLanes) * tables.num_bins;
  const bool has_seen = round == Round::kLater;
  for (int k = begin; k < tables.num_bins; k += step) {
    const BinPair now = unpack_bin(tables.fft, k, memory.signal);
    const BinValue seen = has_seen ? early_seen[k] : BinValue{0, 0};
    const BinBands bands = tables.bin_bands[k];
    const BinWeights weights = tables.bin_weights[k];
    const BinValue shown = shown_bin({bands, weights, now.early, seen, memory.other.real[k]},
                                     memory.early_ratios, tables.update);
    early_seen[k] = now.early;
    BinValue beside{0, 0};
    if (pair.has_late) {
      const BinValue late_before = has_seen ? late_seen[k] : BinValue{0, 0};
      beside = shown_bin({bands, weights, now.late, late_before, memory.other.imaginary[k]},
                         memory.late_ratios, tables.update);
      late_seen[k] = now.late;
    }
    pack_bin(tables.fft, k, shown, beside, memory.signal);
  }
  write_frames<kPoints>(tables, job, pair, memory);
}

}  // namespace stoker::audio
