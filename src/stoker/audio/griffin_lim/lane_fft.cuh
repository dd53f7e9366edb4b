// The FFT of LaneFft in one block of GPU threads: the same stages, factors and order, and so the
// same bytes.
#pragma once

#include "stoker/audio/griffin_lim/lane_fft.h"

namespace stoker::audio {

inline constexpr int kMaxFftStages = 12;  // 2^13 has seven, 3^8 eight

struct alignas(8) DeviceComplex {
  float re;
  float im;
};

struct DeviceFft {
  struct Stage {
    int radix;
    int num_groups;
    int stride;
    int stride_shift;  // its logarithm, -1 where it is no power of two
    int twiddles_at;
    bool takes_two;  // this stage and the next, both of radix four, run in registers
  };
  int num_points;
  int num_stages;
  Stage stages[kMaxFftStages];
  const DeviceComplex* twiddles;  // per stage: [radix - 1][num_groups], then the roots of unity
};

// A value in shared memory is one slot later after every 32, so that the threads of a warp,
// which write four apart, meet different banks.
__host__ __device__ constexpr int slot_of(int index) { return index + (index >> 5); }
__host__ __device__ constexpr int slots_for(int num_points) { return slot_of(num_points) + 1; }

struct SharedSignal {
  float* real;
  float* imaginary;
};

__device__ inline DeviceComplex load(const SharedSignal& signal, int index) {
  return {signal.real[slot_of(index)], signal.imaginary[slot_of(index)]};
}

__device__ inline void store(const SharedSignal& signal, int index, const DeviceComplex& value) {
  signal.real[slot_of(index)] = value.re;
  signal.imaginary[slot_of(index)] = value.im;
}

__device__ inline DeviceComplex operator+(const DeviceComplex& a, const DeviceComplex& b) {
  return {a.re + b.re, a.im + b.im};
}
__device__ inline DeviceComplex operator-(const DeviceComplex& a, const DeviceComplex& b) {
  return {a.re - b.re, a.im - b.im};
}
__device__ inline DeviceComplex operator*(const DeviceComplex& a, const DeviceComplex& w) {
  return {a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};
}

// Four values to the four outputs of a butterfly, turned by the factors of its group.
__device__ inline void radix4(DeviceComplex (&x)[4], const DeviceComplex* twiddles, int step) {
  const DeviceComplex sum02 = x[0] + x[2], diff02 = x[0] - x[2];
  const DeviceComplex sum13 = x[1] + x[3], diff13 = x[1] - x[3];
  x[0] = sum02 + sum13;
  x[1] = DeviceComplex{diff02.re + diff13.im, diff02.im - diff13.re} * twiddles[0];
  x[2] = (sum02 - sum13) * twiddles[step];
  x[3] = DeviceComplex{diff02.re - diff13.im, diff02.im + diff13.re} * twiddles[2 * step];
}

// Which butterfly a thread has: number `index` of `stage` reads from `index` on, a share of the
// points apart, and writes from `to` on, a stride apart.
struct DeviceButterfly {
  int index;
  int group;
  int to;
};

__device__ inline DeviceButterfly butterfly_of(const DeviceFft::Stage& stage, int index,
                                               int num_outputs) {
  const int group = stage.stride_shift >= 0 ? index >> stage.stride_shift : index / stage.stride;
  return {index, group, group * stage.stride * (num_outputs - 1) + index};
}

// Any radix by its definition, for one butterfly.
__device__ inline void radix_any(const DeviceFft& fft, const DeviceFft::Stage& stage,
                                 const DeviceButterfly& b, SharedSignal in, SharedSignal out) {
  const DeviceComplex* twiddles = fft.twiddles + stage.twiddles_at + b.group;
  const DeviceComplex* roots =
      fft.twiddles + stage.twiddles_at + stage.num_groups * (stage.radix - 1);
  const int step = stage.num_groups * stage.stride;
  for (int k = 0; k < stage.radix; ++k) {
    DeviceComplex sum = load(in, b.index);
    for (int j = 1; j < stage.radix; ++j)
      sum = sum + load(in, b.index + j * step) * roots[j * k % stage.radix];
    store(out, b.to + k * stage.stride, k == 0 ? sum : sum * twiddles[(k - 1) * stage.num_groups]);
  }
}

__device__ inline void run_stage(const DeviceFft& fft, const DeviceFft::Stage& stage,
                                 SharedSignal in, SharedSignal out) {
  const int count = stage.num_groups * stage.stride;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    const DeviceButterfly b = butterfly_of(stage, i, stage.radix);
    if (stage.radix == 4) {
      DeviceComplex x[4] = {load(in, i), load(in, i + count), load(in, i + 2 * count),
                            load(in, i + 3 * count)};
      radix4(x, fft.twiddles + stage.twiddles_at + b.group, stage.num_groups);
#pragma unroll
      for (int k = 0; k < 4; ++k) store(out, b.to + k * stage.stride, x[k]);
    } else if (stage.radix == 2) {
      const DeviceComplex x0 = load(in, i), x1 = load(in, i + count);
      store(out, b.to, x0 + x1);
      store(out, b.to + stage.stride, (x0 - x1) * fft.twiddles[stage.twiddles_at + b.group]);
    } else {
      radix_any(fft, stage, b, in, out);
    }
  }
}

// Two stages of radix four without shared memory between them: a thread has the sixteen values
// whose second butterflies need nothing but each other's first ones.
struct StagePair {
  int count;  // threads' worth of work: a sixteenth of the points
  int stride;
  int stride_shift;
  int num_groups;  // of the second stage; the first has four times as many
  const DeviceComplex* first;
  const DeviceComplex* second;
};

// `load(index, offset)` and `store(index, offset, value)` are where values come from and go to.
template <class Load, class Store>
__device__ __forceinline__ void run_two_stages(const StagePair& pair, Load&& load, Store&& store) {
  for (int i = static_cast<int>(threadIdx.x); i < pair.count; i += static_cast<int>(blockDim.x)) {
    const int group = pair.stride_shift >= 0 ? i >> pair.stride_shift : i / pair.stride;
    const int to = group * pair.stride * 15 + i;
    DeviceComplex x[4][4];  // [first butterfly][its output]
#pragma unroll
    for (int m = 0; m < 4; ++m) {
#pragma unroll
      for (int k = 0; k < 4; ++k) x[m][k] = load(i, (m + 4 * k) * pair.count);
      radix4(x[m], pair.first + group + m * pair.num_groups, 4 * pair.num_groups);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      DeviceComplex y[4] = {x[0][k], x[1][k], x[2][k], x[3][k]};
      radix4(y, pair.second + group, pair.num_groups);
#pragma unroll
      for (int j = 0; j < 4; ++j) store(to, (k + 4 * j) * pair.stride, y[j]);
    }
  }
}

// Shared memory for run_two_stages().
struct SharedValues {
  SharedSignal signal;
  __device__ DeviceComplex operator()(int index, int offset) const {
    return load(signal, index + offset);
  }
  __device__ void operator()(int index, int offset, const DeviceComplex& value) const {
    store(signal, index + offset, value);
  }
};

// Every thread of the block calls it, after a barrier; ends with one. Leaves the result in `signal`
// and exchanges the two as often as values went through shared memory.
__device__ inline void fft_forward(const DeviceFft& fft, SharedSignal& signal,
                                   SharedSignal& other) {
  for (int s = 0; s < fft.num_stages; ++s) {
    const DeviceFft::Stage& stage = fft.stages[s];
    if (stage.takes_two) {
      const DeviceFft::Stage& next = fft.stages[++s];
      const StagePair pair{next.num_groups * stage.stride,
                           stage.stride,
                           stage.stride_shift,
                           next.num_groups,
                           fft.twiddles + stage.twiddles_at,
                           fft.twiddles + next.twiddles_at};
      run_two_stages(pair, SharedValues{signal}, SharedValues{other});
    } else {
      run_stage(fft, stage, signal, other);
    }
    const SharedSignal done = other;
    other = signal;
    signal = done;
    __syncthreads();
  }
}

// The parts exchanged before and after a forward transform give the backward one.
__device__ inline SharedSignal swapped(const SharedSignal& signal) {
  return {signal.imaginary, signal.real};
}

// The same with exp(+...), not divided by the number of points.
__device__ inline void fft_backward(const DeviceFft& fft, SharedSignal& signal,
                                    SharedSignal& other) {
  SharedSignal in = swapped(signal), out = swapped(other);
  fft_forward(fft, in, out);
  signal = swapped(in);
  other = swapped(out);
}

// For 1024 points, whose places the compiler knows: slots add up, because index and offset never
// carry into a group of 32 together.
struct AddedSlots {
  SharedSignal signal;
  __device__ DeviceComplex operator()(int index, int offset) const {
    const int slot = slot_of(index) + slot_of(offset);
    return {signal.real[slot], signal.imaginary[slot]};
  }
  __device__ void operator()(int index, int offset, const DeviceComplex& value) const {
    const int slot = slot_of(index) + slot_of(offset);
    signal.real[slot] = value.re;
    signal.imaginary[slot] = value.im;
  }
};

// The fifth stage: one group, whose factors are all one.
template <class Load, class Store>
__device__ __forceinline__ void run_last_stage1024(Load&& load, Store&& store) {
  constexpr int kCount = 256;
  for (int i = static_cast<int>(threadIdx.x); i < kCount; i += static_cast<int>(blockDim.x)) {
    const DeviceComplex x0 = load(i, 0), x1 = load(i, kCount);
    const DeviceComplex x2 = load(i, 2 * kCount), x3 = load(i, 3 * kCount);
    const DeviceComplex sum02 = x0 + x2, diff02 = x0 - x2, sum13 = x1 + x3, diff13 = x1 - x3;
    store(i, 0, sum02 + sum13);
    store(i, kCount, DeviceComplex{diff02.re + diff13.im, diff02.im - diff13.re});
    store(i, 2 * kCount, sum02 - sum13);
    store(i, 3 * kCount, DeviceComplex{diff02.re - diff13.im, diff02.im + diff13.re});
  }
}

// 1024 points, the size of most recipes: two, two and one stages. `load` and `store` as for
// run_two_stages(); what `load` needs must be there, others see what `store` wrote after a barrier.
// Leaves no value in `between` and `after`, which it uses one after the other.
template <class Load, class Store>
__device__ __forceinline__ void fft1024(const DeviceComplex* twiddles, Load&& load, Store&& store,
                                        SharedSignal between, SharedSignal after) {
  const StagePair first{64, 1, 0, 64, twiddles, twiddles + 768};
  const StagePair second{64, 16, 4, 4, twiddles + 960, twiddles + 1008};
  run_two_stages(first, load, AddedSlots{between});
  __syncthreads();
  run_two_stages(second, AddedSlots{between}, AddedSlots{after});
  __syncthreads();
  run_last_stage1024(AddedSlots{after}, store);
}

}  // namespace stoker::audio
