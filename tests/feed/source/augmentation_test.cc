// Gain and noise on the fly: drawn by key, from samples, whatever reads them and wherever a run
// begins.
#include "stoker/feed/source/augmentation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "stoker/feed/errors.h"
#include "stoker/feed/open_feed.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

using Mode = config::PreprocessingMode;

void augment(config::Settings& settings) {
  settings.augment.enable_noise_mixing = true;
  settings.augment.noise_mixing_probability = 0.5;
  settings.augment.noise_mixing_snr_db = {5.0, 15.0};
  settings.augment.gain_db = {-9.0, 3.0};
}

std::vector<std::string> two_epochs(const config::Settings& settings,
                                    const std::optional<std::string>& state = {}) {
  OpenedFeed opened = open_feed(settings, {.state = state});
  std::vector<std::string> found;
  for (int epoch = 0; epoch < 2; ++epoch) {
    while (const auto batch = opened.feed.next()) found.push_back(batch->content_digest().hex());
  }
  return found;
}

double power_of(std::span<const std::int16_t> samples) {
  double power = 0;
  for (const std::int16_t sample : samples) power += double{static_cast<double>(sample)} * sample;
  return power / static_cast<double>(samples.size());
}

TEST(AugmentationTest, IsOffUnlessAskedFor) {
  config::Settings settings;
  EXPECT_EQ(Augmentation::make(settings, system_io()), nullptr);
  settings.augment.enable_noise_mixing = true;
  settings.augment.noise_mixing_probability = 0;
  EXPECT_EQ(Augmentation::make(settings, system_io()), nullptr);
  settings.augment.gain_db = {0.0, 6.0};
  EXPECT_NE(Augmentation::make(settings, system_io()), nullptr);
}

TEST(AugmentationTest, WhiteNoiseHasTheRatioThatWasAskedFor) {
  config::Settings settings;
  settings.augment.enable_noise_mixing = true;
  settings.augment.noise_mixing_probability = 1.0;
  settings.augment.noise_mixing_snr_db = {10.0, 10.0};
  const auto augmentation = Augmentation::make(settings, system_io());
  std::vector<std::int16_t> speech(22050);
  for (std::size_t i = 0; i < speech.size(); ++i) {
    speech[i] = static_cast<std::int16_t>(8000 * std::sin(0.05 * static_cast<double>(i)));
  }
  std::vector<std::int16_t> noisy(speech.size());
  augmentation->apply({hash64("one"), 0}, speech, noisy);
  std::vector<std::int16_t> added(speech.size());
  for (std::size_t i = 0; i < speech.size(); ++i) {
    added[i] = static_cast<std::int16_t>(noisy[i] - speech[i]);
  }
  EXPECT_NEAR(10 * std::log10(power_of(speech) / power_of(added)), 10.0, 0.05);
  // White: neighbours know nothing of each other.
  double together = 0;
  for (std::size_t i = 1; i < added.size(); ++i) {
    together += static_cast<double>(added[i]) * added[i - 1];
  }
  EXPECT_LT(std::abs(together / static_cast<double>(added.size()) / power_of(added)), 0.03);
}

TEST(AugmentationTest, EveryEpochAndUtteranceHasItsOwnDraws) {
  config::Settings settings;
  augment(settings);
  const auto augmentation = Augmentation::make(settings, system_io());
  const std::vector<std::int16_t> speech(4000, 1000);
  std::set<std::vector<std::int16_t>> seen;
  for (const char* id : {"a", "b", "c"}) {
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
      std::vector<std::int16_t> once(speech.size());
      std::vector<std::int16_t> twice(speech.size());
      augmentation->apply({hash64(id), epoch}, speech, once);
      augmentation->apply({hash64(id), epoch}, speech, twice);
      EXPECT_EQ(once, twice);
      seen.insert(once);
    }
  }
  EXPECT_EQ(seen.size(), 12U);
}

TEST(AugmentedFeedTest, BytesDependOnNeitherWorkersNorWhereSamplesLie) {
  SmallDataSet set(30);
  set.settings().loader.preprocessing_mode = Mode::kRuntime;
  const std::vector<std::string> plain = two_epochs(set.settings());
  augment(set.settings());
  set.settings().loader.num_workers = 0;
  const std::vector<std::string> expected = two_epochs(set.settings());
  EXPECT_NE(expected, plain);
  set.settings().loader.num_workers = 4;
  EXPECT_EQ(two_epochs(set.settings()), expected);
  set.settings().loader.use_native_loading = false;
  EXPECT_EQ(two_epochs(set.settings()), expected) << "the naive loader";
  set.settings().loader.use_native_loading = true;
  for (const config::CacheContent content :
       {config::CacheContent::kMel, config::CacheContent::kPcm, config::CacheContent::kBoth}) {
    set.settings().cache.content = content;
    set.build_cache();
    set.settings().loader.preprocessing_mode =
        content == config::CacheContent::kMel ? Mode::kAuto : Mode::kPrecompute;
    EXPECT_EQ(two_epochs(set.settings()), expected);
  }
  set.settings().cache.content = config::CacheContent::kMel;
  EXPECT_EQ(two_epochs(set.settings()), expected) << "samples that other settings stored";
}

TEST(AugmentedFeedTest, AResumeHearsTheSame) {
  SmallDataSet set(30);
  augment(set.settings());
  set.settings().loader.preprocessing_mode = Mode::kRuntime;
  const std::vector<std::string> all = two_epochs(set.settings());
  OpenedFeed opened = open_feed(set.settings());
  for (int i = 0; i < 3; ++i) opened.feed.next();
  OpenedFeed resumed = open_feed(set.settings(), {.state = opened.feed.state()});
  EXPECT_EQ(resumed.feed.next()->content_digest().hex(), all[3]);
}

TEST(AugmentedFeedTest, MelsAloneInTheCacheAreNotEnoughForPrecompute) {
  SmallDataSet set(12);
  set.build_cache();
  augment(set.settings());
  set.settings().loader.preprocessing_mode = Mode::kPrecompute;
  try {
    open_feed(set.settings());
    FAIL() << "cached mels were taken for augmented ones";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedNotCached);
    EXPECT_NE(failure.error().promised.find("samples, to augment,"), std::string::npos);
    EXPECT_NE(failure.error().cure.find("precompute --cache-content both"), std::string::npos);
  }
}

TEST(AugmentedFeedTest, TheWaveformOfABatchIsTheOneItsMelWasMadeOf) {
  SmallDataSet set(12);
  set.settings().loader.preprocessing_mode = Mode::kRuntime;
  set.settings().batch.with_audio = true;
  set.settings().augment.gain_db = {-6.0206, -6.0206};  // half the amplitude
  set.settings().batch.shuffle = false;
  OpenedFeed quiet = open_feed(set.settings());
  set.settings().augment.gain_db = {0.0, 0.0};
  OpenedFeed loud = open_feed(set.settings());
  const auto half = quiet.feed.next();
  const auto full = loud.feed.next();
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_NEAR(half->audio().data[i], full->audio().data[i] / 2, 1.5 / 32768);
  }
}

// The settings say that it has no effect yet; the feed has nothing to fall back from.
TEST(AugmentedFeedTest, AChangeOfSpeedChangesNothing) {
  SmallDataSet set(12);
  set.settings().loader.preprocessing_mode = Mode::kRuntime;
  const std::vector<std::string> plain = two_epochs(set.settings());
  set.settings().augment.enable_pitch_shift = true;
  set.settings().augment.speed_factor = {0.9, 1.1};
  EXPECT_TRUE(open_feed(set.settings()).feed.stats().fallbacks.empty());
  EXPECT_EQ(two_epochs(set.settings()), plain);
}

class NoiseFolderTest : public testing::Test {
 protected:
  NoiseFolderTest() : set_(12), folder_(set_.folder() / "noises") {
    std::filesystem::create_directories(folder_);
    augment(set_.settings());
    set_.settings().augment.noise_dir = folder_;
    set_.settings().loader.preprocessing_mode = Mode::kRuntime;
  }

  void put_noise(const std::string& name, std::int16_t level, std::uint32_t rate_hz) const {
    const File root = open_file(system_io(), folder_, OpenFor::kFolder).take_or_raise();
    std::vector<std::int16_t> samples(3000);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i] = static_cast<std::int16_t>(i % 2 == 0 ? level : -level);
    }
    audio::write_wav_pcm16(root, name, samples, rate_hz).take_or_raise();
  }

  SmallDataSet set_;
  std::string folder_;
};

TEST_F(NoiseFolderTest, RecordingsAreHeardAtTheRateOfTheFeatures) {
  put_noise("hum.wav", 500, 22050);
  put_noise("street.wav", 900, 44100);
  const auto augmentation = Augmentation::make(set_.settings(), system_io());
  ASSERT_EQ(augmentation->noise_lengths().size(), 2U);
  EXPECT_EQ(augmentation->noise_lengths()[0], 3000);
  EXPECT_EQ(augmentation->noise_lengths()[1], 1500);
}

TEST_F(NoiseFolderTest, OtherNoisesAreAnotherRun) {
  put_noise("hum.wav", 500, 22050);
  OpenedFeed opened = open_feed(set_.settings());
  opened.feed.next();
  const std::string state = opened.feed.state();
  std::filesystem::remove(folder_ + "/hum.wav");
  put_noise("hum.wav", 600, 22050);
  try {
    open_feed(set_.settings(), {.state = state});
    FAIL() << "went on with another noise";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedChanged);
  }
}

TEST_F(NoiseFolderTest, AnEmptyFolderAndAFileThatIsNoSoundAreRefused) {
  try {
    open_feed(set_.settings());
    FAIL() << "mixed nothing";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedAugment);
    EXPECT_EQ(failure.error().place.file, folder_);
  }
  std::ofstream(folder_ + "/readme.txt") << "no sound";
  try {
    open_feed(set_.settings());
    FAIL() << "took a text for a sound";
  } catch (const Failure& failure) {
    EXPECT_NE(failure.error().place.file.find("readme.txt"), std::string::npos);
  }
}

}  // namespace
}  // namespace stoker::feed
