// The complex FFT of 1024 points, the size of most recipes: the stages of device_fft.cuh with every
// place known to the compiler, read from and written to device memory directly.
#pragma once

#include "stoker/audio/griffin_lim/device_fft.cuh"

namespace stoker::audio {

// Slots add up here: index and offset never carry into a group of 32 together.
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

// Five stages: two, two and one. `load` and `store` as for run_two_stages(); what `load` needs must
// be there, and what `store` wrote is not there for others before a barrier. Leaves no value in
// `between` and `after`, which it uses one after the other.
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
