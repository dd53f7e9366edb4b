// Mels that come out otherwise than before must not be taken from an old cache for the same ones.
#include <gtest/gtest.h>

#include <vector>

#include "stoker/audio/log_mel.h"
#include "stoker/base/digest.h"
#include "stoker/base/philox.h"
#include "stoker/cache/wanted_cache.h"
#include "stoker/config/settings.h"

namespace stoker::cache {
namespace {

// A second of noise that grows and fades.
std::vector<std::int16_t> test_sound() {
  KeyedDraws draws({1, "code version", 0, 0});
  std::vector<std::int16_t> samples(22050);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto loud = static_cast<std::int32_t>(i % 4096);
    const auto draw = static_cast<std::int32_t>(draws.next_u32() >> 17U) - 16384;
    samples[i] = static_cast<std::int16_t>(draw * loud / 4096);
  }
  return samples;
}

std::string mel_digest(const char* preset, SimdLevel level) {
  const std::vector<std::int16_t> samples = test_sound();
  config::FeatureSettings features;
  features.preset = preset;
  const audio::LogMel mel(config::recipe_of(features), level);
  auto workspace = mel.make_workspace(samples.size());
  const std::size_t num_frames = mel.num_frames(samples.size());
  std::vector<float> values(num_frames * mel.num_mels());
  mel.run(samples, {.data = values.data(), .row_stride = mel.num_mels(), .rows = num_frames},
          workspace);
  return digest_of(std::as_bytes(std::span(values))).short_hex();
}

struct Case {
  const char* preset;
  SimdLevel level;
  const char* digest;
};

// When this fails because the arithmetic was changed on purpose: raise kMelCodeVersion, and put the
// new digests here.
TEST(CodeVersionTest, ThisVersionOfTheMelGivesTheseBytes) {
  static_assert(kMelCodeVersion == 3);
  for (const Case& row : {Case{"hifigan", SimdLevel::kAvx512, "9db014b8be746e5d"},
                          Case{"hifigan", SimdLevel::kAvx2, "dd8e8ef3a33cdbe4"},
                          Case{"hifigan", SimdLevel::kScalar, "ca3f6759c05c7736"},
                          Case{"vocos24", SimdLevel::kAvx512, "71e94dd00d32ed77"},
                          Case{"vocos24", SimdLevel::kAvx2, "71e94dd00d32ed77"}}) {
    if (!choose_simd_level(simd_level_name(row.level), detect_simd_level()).ok()) continue;
    EXPECT_EQ(mel_digest(row.preset, row.level), row.digest)
        << row.preset << " " << simd_level_name(row.level);
  }
}

}  // namespace
}  // namespace stoker::cache
