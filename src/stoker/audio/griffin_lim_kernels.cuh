// The kernels of Griffin-Lim: one block of threads takes two frames there and back, in the pairing
// of StftLanes, so that every rounding is the CPU's.
#pragma once

#include "stoker/audio/device_fft1024.cuh"
#include "stoker/audio/griffin_lim_plan.h"
#include "stoker/audio/mel_inverse.h"
#include "stoker/base/philox.h"

namespace stoker::audio {

// The bands of a bin, side by side for one load; a weight of 0 where there is no second.
struct alignas(16) BinBands {
  MelWeight first;
  MelWeight second;
};

// Tables and numbers of a recipe; pointers lie on the device.
struct GriffinLimTables {
  DeviceFft fft;
  int num_bins;
  int num_mels;
  int hop_samples;
  int padding;
  bool reflects;
  // An utterance of F > 0 frames has F * hop_samples + extra_samples samples.
  int extra_samples;
  BinUpdate update;
  MelUndo undo;
  PhiloxKey phase_key;
  float out_scale;
  float emphasis;
  const float* window;
  const float* synthesis_window;
  const BinBands* bin_bands;        // where no bin has more than two bands, else null
  const std::uint32_t* bin_begin;   // [num_bins + 1]
  const MelWeight* bin_weights;     // bands of a bin
  const std::uint32_t* band_begin;  // [num_mels + 1]
  const MelWeight* band_weights;    // bins of a band
  const float* bin_share;
  const float* band_share;
  const BinValue* circle;
  const double* divisors;  // null where the recipe has none
};

// One call: the batch and where its intermediate values lie.
struct GriffinLimJob {
  const float* log_mel;
  const std::int32_t* num_frames;
  int padded_frames;
  int signal_samples;  // room for one utterance's padded signal
  float* samples;
  long long padded_samples;
  float* wanted;    // [utterances, padded_frames, num_mels]
  BinValue* seen;   // [utterances, padded_frames, num_bins]: momentum
  float* frames;    // [utterances, padded_frames, n_fft]: windowed, to be added up
  float* signal;    // [utterances, signal_samples]
  float* envelope;  // the same: what undoes the overlapping windows
};

__device__ inline float* signal_of_block(const GriffinLimJob& job) {
  return job.signal + static_cast<long long>(blockIdx.y) * job.signal_samples;
}
__device__ inline float* envelope_of_block(const GriffinLimJob& job) {
  return job.envelope + static_cast<long long>(blockIdx.y) * job.signal_samples;
}

// Two frames that share one complex transform, as in StftLanes.
struct FramePair {
  long long early_row;  // in arrays of [utterances, padded_frames]
  int early;
  int late;
  bool has_early;
  bool has_late;
};

__device__ inline int frames_of(const GriffinLimJob& job) {
  const int wanted = job.num_frames[blockIdx.y];
  return wanted < 0 ? 0 : wanted < job.padded_frames ? wanted : job.padded_frames;
}

__device__ inline int samples_of(const GriffinLimTables& tables, int num_frames) {
  if (num_frames == 0) return 0;
  return num_frames * tables.hop_samples + tables.extra_samples;
}

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

// gain of a bin = its bands' ratios, weighted: (W' ratio) / (W' 1).
__device__ inline float spread(const GriffinLimTables& tables, int bin, const float* ratios) {
  if (tables.bin_bands != nullptr) {
    const BinBands bands = tables.bin_bands[bin];
    const float first = bands.first.value * ratios[bands.first.at];
    return (first + bands.second.value * ratios[bands.second.at]) * tables.bin_share[bin];
  }
  float sum = 0;
  for (std::uint32_t i = tables.bin_begin[bin]; i < tables.bin_begin[bin + 1]; ++i)
    sum += tables.bin_weights[i].value * ratios[tables.bin_weights[i].at];
  return sum * tables.bin_share[bin];
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

// The first guess: magnitudes spread from the wanted bands, phases drawn by key.
__device__ inline BinValue first_bin(const GriffinLimTables& tables, int frame, int bin,
                                     const float* ratios) {
  constexpr int kLanes = static_cast<int>(kFrameLanes);
  const float gain = spread(tables, bin, ratios);
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

// The ratio of every wanted band to what the frames have; magnitudes lie in `memory.other`.
__device__ inline void find_ratios(const GriffinLimTables& tables, const GriffinLimJob& job,
                                   const FramePair& pair, const PairMemory& memory) {
  const float* wanted = job.wanted + pair.early_row * tables.num_mels;
  for (int task = static_cast<int>(threadIdx.x); task < 2 * tables.num_mels;
       task += static_cast<int>(blockDim.x)) {
    const bool is_late = task >= tables.num_mels;
    if (is_late && !pair.has_late) return;
    const int band = is_late ? task - tables.num_mels : task;
    const float* magnitudes = is_late ? memory.other.imaginary : memory.other.real;
    float sum = 0;
    for (std::uint32_t i = tables.band_begin[band]; i < tables.band_begin[band + 1]; ++i)
      sum += tables.band_weights[i].value * magnitudes[tables.band_weights[i].at];
    const long long row = is_late ? static_cast<long long>(kFftLanes) * tables.num_mels : 0;
    (is_late ? memory.late_ratios : memory.early_ratios)[band] =
        band_ratio(wanted[row + band], sum);
  }
}

// One bin of one frame, found in the signal's spectrum.
struct FoundBin {
  BinValue now;
  BinValue seen;
  float magnitude;
};

// Its magnitude from the bands, its phase from spectrum and momentum.
__device__ inline BinValue shown_bin(const GriffinLimTables& tables, int bin, const FoundBin& found,
                                     const float* ratios) {
  const float magnitude = found.magnitude;
  const float scaled =
      tables.bin_share[bin] > 0 ? magnitude * spread(tables, bin, ratios) : unheard(magnitude);
  return turned_bin(found.now, found.seen, scaled, tables.update);
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
    const BinValue shown =
        shown_bin(tables, k, {now.early, seen, memory.other.real[k]}, memory.early_ratios);
    early_seen[k] = now.early;
    BinValue beside{0, 0};
    if (pair.has_late) {
      const BinValue late_before = has_seen ? late_seen[k] : BinValue{0, 0};
      beside = shown_bin(tables, k, {now.late, late_before, memory.other.imaginary[k]},
                         memory.late_ratios);
      late_seen[k] = now.late;
    }
    pack_bin(tables.fft, k, shown, beside, memory.signal);
  }
  write_frames<kPoints>(tables, job, pair, memory);
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
