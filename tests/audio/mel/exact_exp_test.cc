#include "stoker/audio/mel/exact_exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stoker::audio {
namespace {

double relative(double found, double wanted) { return std::abs(found / wanted - 1.0); }

TEST(ExactExpTest, StaysCloseToTheMathematicsLibrary) {
  for (double x = -60; x <= 60; x += 0.00731) {
    ASSERT_LE(relative(exact_exp2(x), std::exp2(x)), 4e-16) << x;
    ASSERT_LE(relative(exact_exp(x), std::exp(x)), 1e-15 * (1 + std::abs(x))) << x;
    ASSERT_LE(relative(exact_exp10(x), std::pow(10.0, x)), 1e-15 * (1 + std::abs(x))) << x;
  }
}

TEST(ExactExpTest, WholeExponentsAreExact) {
  for (int n = -1000; n <= 1000; ++n) ASSERT_EQ(exact_exp2(n), std::ldexp(1.0, n));
  EXPECT_EQ(amplitude_of_db(0), 1.0);
}

TEST(ExactExpTest, BeyondTheLimitItStops) {
  EXPECT_EQ(exact_exp2(1e300), std::ldexp(1.0, 1000));
  EXPECT_EQ(exact_exp2(-std::numeric_limits<double>::infinity()), std::ldexp(1.0, -1000));
  EXPECT_EQ(exact_exp2(std::numeric_limits<double>::quiet_NaN()), std::ldexp(1.0, -1000));
}

// A change of these bits changes bytes that were promised to stay.
TEST(ExactExpTest, TheBitsAreThese) {
  static_assert(exact_exp(-11.5129) > 0);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(exact_exp(-11.5129)), 4532020733931501844U);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(exact_exp10(0.3)), 4611664681790847151U);
}

}  // namespace
}  // namespace stoker::audio
