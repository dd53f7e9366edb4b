#include <gtest/gtest.h>

#include <cmath>

#include "stoker/data/voice/steady_math.h"

namespace stoker::data::voice {
namespace {

TEST(VoiceMathTest, CosineFollowsItsDefinition) {
  for (int i = -4000; i <= 4000; ++i) {
    const double turns = i / 1000.0 + 1e-4;
    EXPECT_NEAR(cos_turns(turns), std::cos(2.0 * kPi * turns), 1e-11) << turns;
  }
}

TEST(VoiceMathTest, PowersOfTwoFollowTheirDefinition) {
  for (int i = -3000; i <= 3000; ++i) {
    const double x = i / 50.0 + 1e-3;
    EXPECT_NEAR(exp2_of(x) / std::exp2(x), 1.0, 1e-12) << x;
  }
  EXPECT_NEAR(exp_of(1.0), 2.718281828459045, 1e-12);
  EXPECT_NEAR(gain_of_db(-20.0), 0.1, 1e-13);
}

TEST(VoiceMathTest, FloorGoesDownOnBothSidesOfZero) {
  EXPECT_EQ(floor_of(2.7), 2.0);
  EXPECT_EQ(floor_of(-2.1), -3.0);
  EXPECT_EQ(floor_of(-2.0), -2.0);
}

TEST(VoiceMathTest, EaseIsFlatAtItsEnds) {
  EXPECT_EQ(ease(-1.0), 0.0);
  EXPECT_EQ(ease(0.5), 0.5);
  EXPECT_EQ(ease(2.0), 1.0);
  EXPECT_LT(ease(0.01), 0.001);
}

}  // namespace
}  // namespace stoker::data::voice
