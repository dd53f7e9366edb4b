#include "stoker/train/model/step_draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/train/model/draw_value.h"

namespace stoker::train {
namespace {

enum class Kind { kUniform, kNormal };

std::vector<float> draw(Kind kind, const DrawStream& stream, std::size_t rows, std::size_t values) {
  std::vector<float> out(rows * values, -9.0F);
  const DrawTarget target{out.data(), rows, values};
  kind == Kind::kUniform ? fill_uniform(stream, target) : fill_normal(stream, target);
  return out;
}

const DrawStream kNoise{{42, 7}, kNoiseDraws};

TEST(StepDrawsTest, NormalHasTheMomentsOfTheNormal) {
  const std::vector<float> values = draw(Kind::kNormal, kNoise, 8, 50'000);
  std::array<double, 5> moments{};
  for (const float value : values) {
    for (std::size_t k = 1; k <= 4; ++k) moments[k] += std::pow(value, k);
  }
  const auto count = static_cast<double>(values.size());
  EXPECT_NEAR(moments[1] / count, 0, 0.006);
  EXPECT_NEAR(moments[2] / count, 1, 0.01);
  EXPECT_NEAR(moments[3] / count, 0, 0.025);
  EXPECT_NEAR(moments[4] / count, 3, 0.06);
}

// Kolmogorov and Smirnov: the largest distance between the two distribution functions, which
// exceeds 1.95 / sqrt(n) once in a thousand times.
template <class Distribution>
double distance_to(std::vector<float> values, Distribution distribution) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = distribution(values[i]);
    largest = std::max({largest, std::abs(static_cast<double>(i + 1) / count - expected),
                        std::abs(static_cast<double>(i) / count - expected)});
  }
  return largest * std::sqrt(count);
}

TEST(StepDrawsTest, FollowTheirDistributions) {
  EXPECT_LT(distance_to(draw(Kind::kNormal, kNoise, 1, 200'000),
                        [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }),
            1.95);
  EXPECT_LT(distance_to(draw(Kind::kUniform, kNoise, 1, 200'000), [](double x) { return x; }),
            1.95);
  for (const float value : draw(Kind::kUniform, kNoise, 4, 50'000)) {
    ASSERT_GE(value, 0.0F);
    ASSERT_LT(value, 1.0F);
  }
}

double correlation(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum / static_cast<double>(std::min(a.size(), b.size()));
}

TEST(StepDrawsTest, StreamsAreIndependent) {
  const std::vector<float> values = draw(Kind::kNormal, kNoise, 1, 100'000);
  const std::vector<DrawStream> others{{{43, 7}, kNoiseDraws},
                                       {{42, 8}, kNoiseDraws},
                                       {{42, 7 + (1ULL << 32U)}, kNoiseDraws},
                                       {{42, 7}, kTimeDraws},
                                       {{42, 7}, kNoiseDraws, 1}};
  for (const DrawStream& other : others)
    EXPECT_LT(std::abs(correlation(values, draw(Kind::kNormal, other, 1, 100'000))), 0.013);
  const std::vector<float> rows = draw(Kind::kNormal, kNoise, 2, 50'000);
  EXPECT_LT(std::abs(correlation(values, {rows.begin() + 50'000, rows.end()})), 0.018);
  EXPECT_LT(std::abs(correlation(values, {values.begin() + 1, values.end()})), 0.013);
}

TEST(StepDrawsTest, AValueDependsOnItsRowAndPlaceAlone) {
  for (const Kind kind : {Kind::kUniform, Kind::kNormal}) {
    const std::vector<float> longest = draw(kind, kNoise, 5, 1000);
    for (const std::size_t length : {1U, 3U, 4U, 127U, 128U, 129U, 999U}) {
      const std::vector<float> rows = draw(kind, kNoise, 3, length);
      for (std::size_t row = 0; row < 3; ++row) {
        EXPECT_TRUE(std::equal(rows.begin() + static_cast<std::ptrdiff_t>(row * length),
                               rows.begin() + static_cast<std::ptrdiff_t>((row + 1) * length),
                               longest.begin() + static_cast<std::ptrdiff_t>(row * 1000)));
      }
    }
    std::vector<float> tail(2000);
    const DrawTarget target{tail.data(), 2, 1000, 3};
    kind == Kind::kUniform ? fill_uniform(kNoise, target) : fill_normal(kNoise, target);
    EXPECT_TRUE(std::equal(tail.begin(), tail.end(), longest.begin() + 3000));
  }
}

// Box and Muller's formula in double precision.
TEST(StepDrawsTest, EqualsTheDefinition) {
  const RowDraws draws = row_draws(kNoise);
  const std::vector<float> normal = draw(Kind::kNormal, kNoise, 3, 40);
  const std::vector<float> uniform = draw(Kind::kUniform, kNoise, 3, 40);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t i = 0; i < 40; ++i) {
      const PhiloxCounter words = philox4x32_10(
          {static_cast<std::uint32_t>(i / 4), 7, static_cast<std::uint32_t>(row), 0}, draws.key);
      EXPECT_EQ(uniform[row * 40 + i], static_cast<float>(words[i % 4] >> 8U) * 0x1p-24F);
      const std::size_t pair = i % 4 / 2 * 2;
      const double radius = std::sqrt(-2 * std::log((words[pair] / 2 + 0.5) * 0x1p-31));
      const double quarter = words[pair + 1] >> 30U;
      const double beside = static_cast<std::int32_t>(words[pair + 1] << 2U) * 0x1p-31 / 2;
      const double angle = (quarter + beside) * M_PI / 2;
      // A quarter turn of 1 or 3 gives sine and cosine in the other order, unsigned by half turns.
      const bool is_odd = (words[pair + 1] >> 30U) % 2 == 1;
      const double turned = angle - (is_odd ? M_PI / 2 : 0);
      const double value = (i % 2 == 0) != is_odd ? std::cos(turned) : std::sin(turned);
      EXPECT_NEAR(normal[row * 40 + i], radius * value, 2e-6);
    }
  }
}

TEST(StepDrawsTest, PinnedValues) {
  const std::vector<float> normal = draw(Kind::kNormal, kNoise, 2, 3);
  const std::vector<float> uniform = draw(Kind::kUniform, kNoise, 2, 3);
  std::vector<std::uint32_t> bits;
  for (const std::vector<float>& values : {normal, uniform}) {
    for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  }
  EXPECT_EQ(bits, (std::vector<std::uint32_t>{3193664410, 1066466686, 3208359623, 3174867258,
                                              1057859171, 3203194909, 1057208313, 1055966040,
                                              1061395821, 1062956596, 1056521158, 1056537426}));
}

TEST(StepDrawsTest, NothingIsDrawnForNothing) {
  EXPECT_NO_THROW(fill_normal(kNoise, {nullptr, 0, 10}));
  EXPECT_NO_THROW(fill_uniform(kNoise, {nullptr, 4, 0}));
}

}  // namespace
}  // namespace stoker::train
