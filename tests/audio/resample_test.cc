#include "stoker/audio/resample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/audio/sine.h"

namespace stoker::audio {
namespace {

struct RatePair {
  std::uint32_t from_hz, to_hz;
};

TEST(ResamplerTest, ASineStaysASineAtTheNewRate) {
  for (const RatePair& rates :
       {RatePair{44100, 22050}, {48000, 22050}, {24000, 22050}, {16000, 22050}}) {
    const std::vector<float> in = sine(440, 0.5, 1.0, rates.from_hz);
    const std::vector<float> wanted = sine(440, 0.5, 1.0, rates.to_hz);
    Resampler resampler(rates.from_hz, rates.to_hz);
    std::vector<float> out(resampler.num_out(in.size()));
    resampler.run(in, out);
    ASSERT_EQ(out.size(), wanted.size());
    for (std::size_t i = 2000; i + 2000 < out.size(); ++i)
      ASSERT_NEAR(out[i], wanted[i], 1e-4) << rates.from_hz << " at " << i;
  }
}

TEST(ResamplerTest, NothingIsCarriedFromTheUtteranceBefore) {
  const std::vector<float> in = sine(300, 0.5, 0.3, 16000);
  Resampler fresh(16000, 22050);
  Resampler used(16000, 22050);
  std::vector<float> first(fresh.num_out(in.size())), second(first);
  std::vector<float> other(used.num_out(7777));
  used.run(sine(1000, 0.9, 7777.0 / 16000, 16000), other);
  fresh.run(in, first);
  used.run(in, second);
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace stoker::audio
