#include "stoker/audio/griffin_lim/griffin_lim.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "stoker/audio/feature_file.h"
#include "stoker/audio/pcm16.h"
#include "tests/audio/file/coded_files.h"
#include "tests/doubles/sanitizers.h"

namespace stoker::audio {
namespace {

config::FeatureSettings preset(std::string_view name) {
  config::FeatureSettings settings;
  settings.preset = name;
  return settings;
}

std::vector<std::int16_t> there_and_back(FeatureMaker& maker, const FileFeatures& features) {
  const GriffinLim way_back =
      GriffinLim::make(maker.recipe(), {}, detect_simd_level()).take_or_raise();
  std::vector<float> heard(way_back.num_samples(features.num_frames));
  GriffinLim::Workspace workspace;
  way_back.run(features.values, heard, workspace);
  std::vector<std::int16_t> pcm(heard.size());
  to_pcm16(heard, pcm);
  return pcm;
}

// In the unit of the logarithm that the preset takes: mean |20 log10 ratio| for magnitudes.
double mean_difference_db(const FileFeatures& a, const FileFeatures& b, double db_per_unit) {
  double sum = 0;
  const std::size_t count = std::min(a.values.size(), b.values.size());
  for (std::size_t i = 0; i < count; ++i)
    sum += std::abs(static_cast<double>(a.values[i] - b.values[i]));
  return sum / static_cast<double>(count) * db_per_unit;
}

std::vector<std::int16_t> speech(int rate_hz) {
  const std::vector<float> samples = speech_like(static_cast<std::size_t>(rate_hz), rate_hz);
  std::vector<std::int16_t> pcm(samples.size());
  to_pcm16(samples, pcm);
  return pcm;
}

TEST(GriffinLimTest, TheBandsComeBackWithinADecibel) {
  FeatureMaker maker(preset("hifigan"));
  const std::vector<std::int16_t> spoken = speech(22050);
  const FileFeatures features = maker.run(spoken);
  const std::vector<std::int16_t> returned = there_and_back(maker, features);
  EXPECT_EQ(returned.size(), features.num_frames * 256);
  EXPECT_LE(mean_difference_db(features, maker.run(returned), 20 / std::log(10.0)), 1.0);
}

TEST(GriffinLimTest, EqualInputGivesEqualBytesWhateverTheWorkspaceSaw) {
  FeatureMaker maker(preset("hifigan"));
  const FileFeatures features = maker.run(speech(22050));
  const GriffinLim way_back =
      GriffinLim::make(maker.recipe(), {.num_iterations = 5}, detect_simd_level()).take_or_raise();
  std::vector<float> first(way_back.num_samples(features.num_frames)), second(first);
  GriffinLim::Workspace fresh, used;
  const std::size_t part = features.num_mels * 20;
  std::vector<float> other(way_back.num_samples(20));
  way_back.run(std::span(features.values).first(part), other, used);
  way_back.run(features.values, first, fresh);
  way_back.run(features.values, second, used);
  EXPECT_EQ(first, second);
}

class InvertiblePresetTest : public testing::TestWithParam<const char*> {};

TEST_P(InvertiblePresetTest, SoundsAlikeAfterTheRoundTrip) {
  FeatureMaker maker(preset(GetParam()));
  const FileFeatures features = maker.run(speech(static_cast<int>(maker.recipe().sample_rate_hz)));
  const std::vector<std::int16_t> returned = there_and_back(maker, features);
  const FileFeatures again = maker.run(returned);
  ASSERT_NEAR(static_cast<double>(again.num_frames), static_cast<double>(features.num_frames), 1.0);
  double ab = 0, aa = 0, bb = 0, mean_a = 0, mean_b = 0;
  const std::size_t count = std::min(again.values.size(), features.values.size());
  const auto loud = [](float value) { return std::log(std::max(value, 1e-8F)); };
  const bool is_log = maker.recipe().log != config::MelLog::kNone;
  const auto value = [&](const FileFeatures& f, std::size_t i) {
    return is_log ? f.values[i] : loud(f.values[i]);
  };
  for (std::size_t i = 0; i < count; ++i) mean_a += value(features, i), mean_b += value(again, i);
  mean_a /= static_cast<double>(count), mean_b /= static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double a = value(features, i) - mean_a, b = value(again, i) - mean_b;
    ab += a * b, aa += a * a, bb += b * b;
  }
  EXPECT_GT(ab / std::sqrt(aa * bb), 0.97);
}

INSTANTIATE_TEST_SUITE_P(Presets, InvertiblePresetTest,
                         testing::Values("hifigan", "tacotron2", "myxtts", "librosa", "torchaudio",
                                         "xtts", "kaldi", "vocos24"),
                         [](const auto& row) { return std::string(row.param); });

TEST(GriffinLimTest, APresetThatForgetsTheLevelIsRefused) {
  const Result<GriffinLim> made =
      GriffinLim::make(config::mel_preset("myxtts_tf"), {}, SimdLevel::kScalar);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code->name, "E-MEL-INVERT");
}

TEST(GriffinLimTest, RealSpeechComesBackWithinADecibel) {
  const char* data = std::getenv("STOKER_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "STOKER_TEST_DATA names no folder with real speech";
  FeatureMaker maker(preset("hifigan"));
  double worst = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(data) + "/ljspeech-mini/wavs")) {
    const FileFeatures features = maker.run(system_io(), entry.path().string()).take_or_raise();
    const FileFeatures again = maker.run(there_and_back(maker, features));
    worst = std::max(worst, mean_difference_db(features, again, 20 / std::log(10.0)));
    if (kUnderSanitizer) break;  // one recording takes many seconds then
  }
  EXPECT_LE(worst, 1.0);
  RecordProperty("worst_db", std::to_string(worst));
}

}  // namespace
}  // namespace stoker::audio
