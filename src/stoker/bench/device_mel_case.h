// One case of the GPU's mel benchmark: a kernel, its output for the whole pool, and the check of
// it.
#pragma once

#include <cstddef>
#include <vector>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/bench/mel_pool.h"
#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/stream.h"

namespace stoker::bench {

struct DeviceMelCase {
  config::MelRecipe recipe;
  config::MelDtype dtype = config::MelDtype::kF32;
  audio::MelVariant variant = audio::MelVariant::kAuto;
};

// How far the GPU's output is from the CPU's.
struct DeviceMelAgreement {
  double largest_loud = 0;   // in ln, within e^-8 of the frame's largest value; without a logarithm
                             // in parts of that value
  double largest_quiet = 0;  // elsewhere
  std::size_t num_wrong = 0;
};

// Borrows the pool and the stream.
class DeviceMelRun {
 public:
  DeviceMelRun(const DeviceMelCase& bench_case, int device, const MelPool& pool,
               const cuda::Stream& stream);

  const audio::DeviceLogMel& mel() const { return mel_; }
  std::size_t out_bytes() const { return out_.size_bytes(); }

  // Batches of that size over the pool, one after the other; `whole` has the pool's pointers.
  void run_pool(const audio::DeviceMelBatch& whole, std::size_t batch) const;
  void spoil_out() const;  // so that what is not written shows
  std::vector<std::byte> read_out() const;
  DeviceMelAgreement compare_with_cpu(const std::vector<std::byte>& bytes,
                                      std::size_t num_threads) const;

 private:
  std::size_t utterance_bytes() const { return num_rows_ * row_bytes_; }
  void compare_utterance(const std::byte* bytes, const std::vector<float>& expected,
                         DeviceMelAgreement& agreement) const;

  DeviceMelCase case_;
  const MelPool* pool_;
  const cuda::Stream* stream_;
  audio::DeviceLogMel mel_;
  std::size_t num_rows_;
  std::size_t row_bytes_;
  cuda::DeviceBuffer out_;
  cuda::DeviceBuffer scratch_;
};

}  // namespace stoker::bench
