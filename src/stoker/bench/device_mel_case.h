// One case of the GPU's mel benchmark: the pool of utterances that all cases share, a kernel, its
// output for the whole pool, and the check of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/stream.h"

namespace stoker::bench {

// 2,048 of them: 585 MB of int16, 1.1 to 10.1 s, 6.5 s on average at 22,050 Hz.
inline constexpr std::size_t kPoolUtterances = 2048;

// Ragged utterances, more than any cache holds, the same on every machine.
struct MelPool {
  // `num_threads` make the voices; the samples do not depend on it.
  MelPool(std::size_t num_utterances, std::size_t num_threads);

  std::span<const std::int16_t> utterance(std::size_t index) const {
    return std::span(samples).subspan(static_cast<std::size_t>(begins[index]),
                                      static_cast<std::size_t>(lengths[index]));
  }

  std::vector<std::int16_t> samples;
  std::vector<std::int64_t> begins;  // multiples of 8
  std::vector<std::int32_t> lengths;
  std::size_t longest_samples = 0;
};

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
