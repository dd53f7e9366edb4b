#include "stoker/audio/resample.h"

#include <soxr.h>

#include <algorithm>

#include "stoker/base/invariant.h"

namespace stoker::audio {

struct Resampler::State {
  soxr_t soxr = nullptr;
  State(double from_hz, double to_hz) {
    const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
    const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_VHQ, 0);
    const soxr_runtime_spec_t one_thread = soxr_runtime_spec(1);
    soxr_error_t error = nullptr;
    soxr = soxr_create(from_hz, to_hz, 1, &error, &io, &quality, &one_thread);
    check_invariant(error == nullptr && soxr != nullptr, "soxr refuses the pair of rates");
  }
  ~State() { soxr_delete(soxr); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Resampler::Resampler(std::uint32_t from_hz, std::uint32_t to_hz)
    : from_hz_(from_hz), to_hz_(to_hz) {
  check_invariant(from_hz > 0 && to_hz > 0, "a sample rate of 0");
  if (from_hz != to_hz) state_ = std::make_unique<State>(from_hz, to_hz);
}
Resampler::~Resampler() = default;
Resampler::Resampler(Resampler&&) noexcept = default;
Resampler& Resampler::operator=(Resampler&&) noexcept = default;

std::size_t Resampler::num_out(std::size_t num_samples) const noexcept {
  return (num_samples * to_hz_ + from_hz_ / 2) / from_hz_;
}

void Resampler::run(std::span<const float> in, std::span<float> out) {
  check_invariant(out.size() == num_out(in.size()), "Resampler::run into a buffer of another size");
  if (!state_) {
    std::copy(in.begin(), in.end(), out.begin());
    return;
  }
  soxr_clear(state_->soxr);
  std::size_t read = 0;
  std::size_t written = 0;
  while (written < out.size()) {
    std::size_t taken = 0;
    std::size_t made = 0;
    const bool more = read < in.size();
    soxr_process(state_->soxr, more ? in.data() + read : nullptr, more ? in.size() - read : 0,
                 &taken, out.data() + written, out.size() - written, &made);
    read += taken;
    written += made;
    if (!more && made == 0) break;
  }
  // The filter may end a sample short of the rounded length.
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(written), out.end(), 0.0F);
}

}  // namespace stoker::audio
