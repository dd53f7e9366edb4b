// Settings and data at the edge of what is allowed: they open, or they are refused in words.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/open_feed.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

const ErrorCode* refusal(const config::Settings& settings) {
  try {
    OpenedFeed opened = open_feed(settings);
    while (opened.feed.next()) {
    }
  } catch (const Failure& failure) {
    return failure.error().code;
  }
  return nullptr;
}

TEST(OddSettingsTest, ALowRateNeedsNoLoudnessMeter) {
  SmallDataSet set(6);
  set.settings().loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  set.settings().features.sample_rate_hz = 4000;
  set.settings().features.fmax_hz = 2000.0;
  EXPECT_EQ(refusal(set.settings()), nullptr);
  set.settings().features.loudness = config::LoudnessRule::kLufs;
  EXPECT_STREQ(std::string(refusal(set.settings())->name).c_str(), "E-CONFIG-CONFLICT");
}

TEST(OddSettingsTest, AWeightThatNoEpochCanHoldIsRefused) {
  SmallDataSet set(6);
  for (const double weight : {1e9, 1e12, 1e300}) {
    config::MixedSource source;
    source.data = set.folder().path();
    source.weight = weight;
    set.settings().data.sources = {source};
    EXPECT_EQ(refusal(set.settings()), &kFeedShape) << weight;
  }
}

TEST(OddSettingsTest, NoiseThatIsNothingAtTheFeaturesRateIsRefused) {
  SmallDataSet set(6);
  std::filesystem::create_directories(set.folder() / "noise");
  const File folder =
      open_file(system_io(), set.folder() / "noise", OpenFor::kFolder).take_or_raise();
  audio::write_wav_pcm16(folder, "click.wav", std::vector<std::int16_t>{5}, 192'000)
      .take_or_raise();
  set.settings().loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  set.settings().augment.enable_noise_mixing = true;
  set.settings().augment.noise_mixing_probability = 1.0;
  set.settings().augment.noise_dir = set.folder() / "noise";
  EXPECT_EQ(refusal(set.settings()), &kFeedAugment);
}

}  // namespace
}  // namespace stoker::feed
