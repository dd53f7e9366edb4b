// LogMel and the f64 reference against golden files of NumPy, librosa, torch.stft and
// kaldi-native-fbank; tests/golden/make_mel_golden.py makes them and notes the versions.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/bench/mel_reference.h"
#include "tests/audio/mel/mel_signals.h"

namespace stoker {
namespace {

// The values of a .npy file of version 1: ten bytes, a header of the length in the last two, data.
template <class T>
std::vector<T> load_npy(const std::string& name) {
  std::ifstream file(std::string(STOKER_GOLDEN_DATA) + "/" + name + ".npy", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_GT(bytes.size(), 10U) << name;
  if (bytes.size() <= 10) return {};
  const std::size_t begin =
      10U + static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  std::vector<T> values((bytes.size() - begin) / sizeof(T));
  std::memcpy(values.data(), bytes.data() + begin, values.size() * sizeof(T));
  return values;
}

struct Golden {
  const char* maker;
  const char* preset;
  double tolerance;  // in the unit of the preset; relative to the largest value without a log
};

class MelGoldenTest : public testing::TestWithParam<Golden> {};

double largest_difference(const std::vector<float>& values, const std::vector<float>& golden,
                          bool relative) {
  double largest = 0.0;
  double top = relative ? 0.0 : 1.0;
  for (const float x : golden) top = relative ? std::max(top, static_cast<double>(x)) : top;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(values[i]) - golden[i]) / top);
  }
  return largest;
}

TEST_P(MelGoldenTest, EveryLevelAgrees) {
  const Golden& golden = GetParam();
  const auto samples = load_npy<std::int16_t>("sound");
  const auto expected = load_npy<float>(std::string(golden.maker) + "_" + golden.preset);
  const config::MelRecipe recipe = config::mel_preset(golden.preset);
  for (const SimdLevel level : audio::runnable_levels()) {
    const auto values = audio::run_mel(audio::LogMel(recipe, level), samples);
    ASSERT_GE(values.size(), expected.size());
    // Of Whisper's 3000 frames only the first are kept.
    EXPECT_TRUE(recipe.fit_samples > 0 || values.size() == expected.size());
    EXPECT_LE(largest_difference(values, expected, recipe.log == config::MelLog::kNone),
              golden.tolerance)
        << simd_level_name(level);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Makers, MelGoldenTest,
    testing::Values(Golden{"float64", "hifigan", 1e-4}, Golden{"float64", "tacotron2", 1e-4},
                    Golden{"float64", "myxtts", 1e-4}, Golden{"float64", "myxtts_tf", 1e-5},
                    Golden{"float64", "librosa", 1e-6}, Golden{"float64", "torchaudio", 1e-6},
                    Golden{"float64", "whisper", 1e-5}, Golden{"float64", "xtts", 1e-4},
                    Golden{"float64", "kaldi", 1e-4}, Golden{"float64", "vocos24", 1e-4},
                    Golden{"librosa", "librosa", 1e-6}, Golden{"librosa", "myxtts", 1e-4},
                    Golden{"torch", "hifigan", 1e-4}, Golden{"torch", "tacotron2", 1e-4},
                    Golden{"torch", "torchaudio", 1e-6}, Golden{"torch", "whisper", 1e-5},
                    Golden{"torch", "xtts", 1e-4}, Golden{"torch", "vocos24", 1e-4},
                    Golden{"kaldi", "kaldi", 1e-3}),
    [](const auto& golden) { return std::string(golden.param.maker) + "_" + golden.param.preset; });

TEST(MelReferenceTest, DirectSumsAgreeWithNumPy) {
  const auto samples = bench::unit_samples(load_npy<std::int16_t>("sound"));
  for (const std::string_view preset : config::mel_preset_names()) {
    if (preset == "whisper") continue;  // 3000 frames of direct sums
    const config::MelRecipe recipe = config::mel_preset(preset);
    const auto expected = load_npy<float>("float64_" + std::string(preset));
    const auto reference = bench::mel_reference(recipe, samples);
    ASSERT_EQ(reference.values.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double scale = std::max(1.0, std::abs(reference.values[i]));
      ASSERT_NEAR(reference.values[i], expected[i], 1e-6 * scale) << preset << " " << i;
    }
  }
}

}  // namespace
}  // namespace stoker
