// Mels that come out otherwise than before must not be taken from an old cache for the same ones.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/base/digest/digest.h"
#include "stoker/base/philox.h"
#include "stoker/config/settings.h"
#include "stoker/data/features/feature_spec.h"

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

// "hifigan_avx2": the digests under an emulator (tests/contract) are chosen by level.
std::string case_name(const testing::TestParamInfo<Case>& row) {
  return std::string(row.param.preset) + "_" + std::string(simd_level_name(row.param.level));
}

class CodeVersionTest : public testing::TestWithParam<Case> {};

// When this fails because the arithmetic was changed on purpose: raise kMelCodeVersion, and put the
// new digests here. They are the same on every processor that has the level, whoever made it.
TEST_P(CodeVersionTest, ThisVersionOfTheMelGivesTheseBytes) {
  static_assert(data::kMelCodeVersion == 4);
  const Case& row = GetParam();
  if (!choose_simd_level(simd_level_name(row.level), detect_simd_level()).ok())
    GTEST_SKIP() << "this processor has no " << simd_level_name(row.level);
  EXPECT_EQ(mel_digest(row.preset, row.level), row.digest);
}

INSTANTIATE_TEST_SUITE_P(Mel, CodeVersionTest,
                         testing::Values(Case{"hifigan", SimdLevel::kAvx512, "e731b9bcf59c5bb8"},
                                         Case{"hifigan", SimdLevel::kAvx2, "e731b9bcf59c5bb8"},
                                         Case{"hifigan", SimdLevel::kScalar, "ca3f6759c05c7736"},
                                         Case{"tacotron2", SimdLevel::kAvx512, "59a6bb70165942d0"},
                                         Case{"tacotron2", SimdLevel::kAvx2, "59a6bb70165942d0"},
                                         Case{"tacotron2", SimdLevel::kScalar, "d68bf9df125deb3e"},
                                         Case{"vocos24", SimdLevel::kAvx512, "71e94dd00d32ed77"},
                                         Case{"vocos24", SimdLevel::kAvx2, "71e94dd00d32ed77"},
                                         Case{"vocos24", SimdLevel::kScalar, "71e94dd00d32ed77"},
                                         Case{"kaldi", SimdLevel::kAvx512, "8b62a65033c69815"},
                                         Case{"kaldi", SimdLevel::kAvx2, "8b62a65033c69815"},
                                         Case{"kaldi", SimdLevel::kScalar, "8b62a65033c69815"}),
                         case_name);

}  // namespace
}  // namespace stoker::cache
