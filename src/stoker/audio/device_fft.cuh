// A complex FFT of one block of threads in shared memory: the stages, factors and order of LaneFft,
// and so the same bytes.
#pragma once

#include "stoker/audio/lane_fft.h"

namespace stoker::audio {

inline constexpr int kMaxFftStages = 12;  // 2^13 has seven, 3^8 eight

struct DeviceFft {
  struct Stage {
    int radix;
    int num_groups;
    int stride;
    int stride_shift;  // its logarithm, -1 where it is no power of two
    int twiddles_at;
  };
  int num_points;
  int num_stages;
  Stage stages[kMaxFftStages];
  const float* twiddles;
};

// A value in shared memory stands one place later after every 32, so that the threads of a warp,
// which write four apart, meet different banks.
__host__ __device__ constexpr int slot_of(int index) { return index + (index >> 5); }
__host__ __device__ constexpr int slots_for(int num_points) { return slot_of(num_points) + 1; }

struct SharedSignal {
  float* real;
  float* imaginary;
};

struct DeviceComplex {
  float re;
  float im;
};

__device__ inline DeviceComplex turned(const DeviceComplex& value, const float* twiddles, int k) {
  const float wr = twiddles[2 * k - 2];
  const float wi = twiddles[2 * k - 1];
  return {value.re * wr - value.im * wi, value.re * wi + value.im * wr};
}

__device__ inline DeviceComplex load(const SharedSignal& signal, int index) {
  return {signal.real[slot_of(index)], signal.imaginary[slot_of(index)]};
}

__device__ inline void store(const SharedSignal& signal, int index, const DeviceComplex& value) {
  signal.real[slot_of(index)] = value.re;
  signal.imaginary[slot_of(index)] = value.im;
}

// Where one butterfly reads and writes.
struct DeviceButterfly {
  int from, from_step, to, to_step;
  const float* twiddles;
};

__device__ inline void radix2(const DeviceButterfly& b, SharedSignal in, SharedSignal out) {
  const DeviceComplex x0 = load(in, b.from), x1 = load(in, b.from + b.from_step);
  store(out, b.to, {x0.re + x1.re, x0.im + x1.im});
  store(out, b.to + b.to_step, turned({x0.re - x1.re, x0.im - x1.im}, b.twiddles, 1));
}

__device__ inline void radix4(const DeviceButterfly& b, SharedSignal in, SharedSignal out) {
  const DeviceComplex x0 = load(in, b.from), x1 = load(in, b.from + b.from_step);
  const DeviceComplex x2 = load(in, b.from + 2 * b.from_step);
  const DeviceComplex x3 = load(in, b.from + 3 * b.from_step);
  const DeviceComplex sum02{x0.re + x2.re, x0.im + x2.im}, diff02{x0.re - x2.re, x0.im - x2.im};
  const DeviceComplex sum13{x1.re + x3.re, x1.im + x3.im}, diff13{x1.re - x3.re, x1.im - x3.im};
  store(out, b.to, {sum02.re + sum13.re, sum02.im + sum13.im});
  store(out, b.to + b.to_step,
        turned({diff02.re + diff13.im, diff02.im - diff13.re}, b.twiddles, 1));
  store(out, b.to + 2 * b.to_step,
        turned({sum02.re - sum13.re, sum02.im - sum13.im}, b.twiddles, 2));
  store(out, b.to + 3 * b.to_step,
        turned({diff02.re - diff13.im, diff02.im + diff13.re}, b.twiddles, 3));
}

// Any radix by its definition; `roots` are exp(-2 pi i k / radix).
__device__ inline void radix_any(const DeviceButterfly& b, int radix, const float* roots,
                                 SharedSignal in, SharedSignal out) {
  for (int k = 0; k < radix; ++k) {
    DeviceComplex sum = load(in, b.from);
    for (int j = 1; j < radix; ++j) {
      const float wr = roots[2 * (j * k % radix)];
      const float wi = roots[2 * (j * k % radix) + 1];
      const DeviceComplex x = load(in, b.from + j * b.from_step);
      sum.re += x.re * wr - x.im * wi;
      sum.im += x.re * wi + x.im * wr;
    }
    store(out, b.to + k * b.to_step, k == 0 ? sum : turned(sum, b.twiddles, k));
  }
}

__device__ inline void run_stage(const DeviceFft& fft, const DeviceFft::Stage& stage,
                                 SharedSignal in, SharedSignal out) {
  const float* twiddles = fft.twiddles + stage.twiddles_at;
  const float* roots = twiddles + stage.num_groups * (stage.radix - 1) * 2;
  const int count = stage.num_groups * stage.stride;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    const int group = stage.stride_shift >= 0 ? i >> stage.stride_shift : i / stage.stride;
    const int q = i - group * stage.stride;
    const DeviceButterfly butterfly{i, count, group * stage.stride * stage.radix + q, stage.stride,
                                    twiddles + group * (stage.radix - 1) * 2};
    if (stage.radix == 4) {
      radix4(butterfly, in, out);
    } else if (stage.radix == 2) {
      radix2(butterfly, in, out);
    } else {
      radix_any(butterfly, stage.radix, roots, in, out);
    }
  }
}

// Every thread of the block calls it, after a barrier; ends with one. Leaves the result in `signal`
// and the rest in `other`, exchanging the two as often as there are stages.
__device__ inline void fft_forward(const DeviceFft& fft, SharedSignal& signal,
                                   SharedSignal& other) {
  for (int s = 0; s < fft.num_stages; ++s) {
    run_stage(fft, fft.stages[s], signal, other);
    const SharedSignal done = other;
    other = signal;
    signal = done;
    __syncthreads();
  }
}

// The same with exp(+...), not divided by the number of points: the parts exchanged there and back.
__device__ inline void fft_backward(const DeviceFft& fft, SharedSignal& signal,
                                    SharedSignal& other) {
  SharedSignal in{signal.imaginary, signal.real}, out{other.imaginary, other.real};
  fft_forward(fft, in, out);
  signal = {in.imaginary, in.real};
  other = {out.imaginary, out.real};
}

}  // namespace stoker::audio
