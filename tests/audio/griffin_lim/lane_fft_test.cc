#include "stoker/audio/griffin_lim/lane_fft.h"

#include <gtest/gtest.h>

#include <complex>
#include <numbers>

#include "stoker/base/philox.h"

namespace stoker::audio {
namespace {

struct Lanes {
  std::vector<float> real, imaginary, scratch_real, scratch_imaginary;
  explicit Lanes(const LaneFft& fft)
      : real(fft.num_values()),
        imaginary(fft.num_values()),
        scratch_real(fft.num_values()),
        scratch_imaginary(fft.num_values()) {
    KeyedDraws draws({.seed = 3, .stage = "lanes", .epoch = 0, .item = fft.num_points()});
    for (float& value : real) value = static_cast<float>(draws.next_between(-1, 1));
    for (float& value : imaginary) value = static_cast<float>(draws.next_between(-1, 1));
  }
  LaneFft::Signal signal() { return {real.data(), imaginary.data()}; }
  LaneFft::Signal scratch() { return {scratch_real.data(), scratch_imaginary.data()}; }
  std::complex<double> at(std::size_t index, std::size_t lane) const {
    return {real[index * kFftLanes + lane], imaginary[index * kFftLanes + lane]};
  }
};

std::complex<double> by_definition(const Lanes& in, std::size_t k, std::size_t lane,
                                   std::size_t n) {
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += in.at(i, lane) * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k % n) /
                                                static_cast<double>(n));
  return sum;
}

class LaneFftTest : public testing::TestWithParam<std::size_t> {};

TEST_P(LaneFftTest, EqualsTheDefinitionAndComesBack) {
  const std::size_t n = GetParam();
  const LaneFft fft(n, detect_simd_level());
  const Lanes before(fft);
  Lanes lanes = before;
  fft.forward(lanes.signal(), lanes.scratch());
  const double allowed = 3e-6 * static_cast<double>(n);
  for (std::size_t k = 0; k < n; k += 1 + n / 16)
    for (std::size_t lane = 0; lane < kFftLanes; lane += 3)
      EXPECT_NEAR(std::abs(lanes.at(k, lane) - by_definition(before, k, lane, n)), 0.0, allowed)
          << k;
  fft.backward(lanes.signal(), lanes.scratch());
  for (std::size_t i = 0; i < fft.num_values(); ++i)
    ASSERT_NEAR(lanes.real[i] / static_cast<float>(n), before.real[i], 2e-6);
}

TEST_P(LaneFftTest, EveryLevelGivesTheSameBytes) {
  const std::size_t n = GetParam();
  const LaneFft plain(n, SimdLevel::kScalar);
  const LaneFft best(n, detect_simd_level());
  Lanes a(plain), b(best);
  plain.forward(a.signal(), a.scratch());
  best.forward(b.signal(), b.scratch());
  EXPECT_EQ(a.real, b.real);
  EXPECT_EQ(a.imaginary, b.imaginary);
}

INSTANTIATE_TEST_SUITE_P(Sizes, LaneFftTest,
                         testing::Values(1, 2, 64, 84, 400, 441, 512, 1024, 2048, 1102));

}  // namespace
}  // namespace stoker::audio
