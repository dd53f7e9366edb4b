// Changes the sample rate with libsoxr's very-high-quality filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace stoker::audio {

// One worker's resampler for one pair of rates; reused from utterance to utterance. Not
// thread-safe. The result is a function of the samples alone: nothing is carried over from the
// utterance before.
class Resampler {
 public:
  // Precondition: both rates > 0.
  Resampler(std::uint32_t from_hz, std::uint32_t to_hz);
  ~Resampler();
  Resampler(Resampler&&) noexcept;
  Resampler& operator=(Resampler&&) noexcept;

  // round(num_samples * to / from): how many samples run() writes.
  std::size_t num_out(std::size_t num_samples) const noexcept;

  // Precondition: out.size() == num_out(in.size()). Equal rates copy.
  void run(std::span<const float> in, std::span<float> out);

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::uint32_t from_hz_;
  std::uint32_t to_hz_;
};

}  // namespace stoker::audio
