// The same samples by every route of the loader, and digests of what they were made from.
#include "stoker/data/features/sound_loader.h"

#include <gtest/gtest.h>

#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

std::vector<std::int16_t> copied(std::span<const std::int16_t> samples) {
  return {samples.begin(), samples.end()};
}

class SoundLoaderTest : public testing::Test {
 protected:
  SoundLoaderTest() {
    data_.put_ids({"a", "b"});
    data_.put_metadata("a|x|one\nb|x|two\n");
    index_ = data_.scan();
  }

  DataSet data_;
  Index index_;
  config::Settings settings_;
};

TEST_F(SoundLoaderTest, EveryRouteGivesTheSameSamples) {
  const FeatureSpec spec(settings_, index_, SimdLevel::kScalar);
  SoundLoader loader(spec);
  LoadedUtterance loaded;
  loader.load_with_digest(index_[0], loaded).take_or_raise();
  const std::vector<std::int16_t> whole = copied(loaded.samples);
  ASSERT_EQ(whole.size(), index_[0].num_samples);
  const OpenSound sound = loader.open(index_[0]).take_or_raise();
  EXPECT_EQ(copied(loader.load(sound).take_or_raise()), whole);
  ASSERT_TRUE(loader.only_reads(sound));
  std::vector<std::int16_t> read(whole.size());
  loader.read_into(sound, read).take_or_raise();
  EXPECT_EQ(read, whole);
}

TEST_F(SoundLoaderTest, AnotherRateIsResampledByEveryRoute) {
  settings_.features.sample_rate_hz = 16'000;
  settings_.features.fmax_hz = 8000.0;
  const FeatureSpec spec(settings_, index_, SimdLevel::kScalar);
  SoundLoader loader(spec);
  LoadedUtterance loaded;
  loader.load_with_digest(index_[0], loaded).take_or_raise();
  const std::vector<std::int16_t> whole = copied(loaded.samples);
  EXPECT_LT(whole.size(), index_[0].num_samples);
  const OpenSound sound = loader.open(index_[0]).take_or_raise();
  EXPECT_FALSE(loader.only_reads(sound));
  EXPECT_EQ(copied(loader.load(sound).take_or_raise()), whole);
}

TEST_F(SoundLoaderTest, TheDigestIsThatOfTheFileWhateverTheFeatures) {
  const FeatureSpec spec(settings_, index_, SimdLevel::kScalar);
  SoundLoader loader(spec);
  LoadedUtterance loaded;
  loader.load_with_digest(index_[0], loaded).take_or_raise();
  EXPECT_EQ(loader.digest(index_[0]).take_or_raise(), loaded.source);
  EXPECT_NE(loader.digest(index_[1]).take_or_raise(), loaded.source);
  settings_.features.sample_rate_hz = 16'000;
  settings_.features.fmax_hz = 8000.0;
  const FeatureSpec other(settings_, index_, SimdLevel::kScalar);
  EXPECT_EQ(SoundLoader(other).digest(index_[0]).take_or_raise(), loaded.source);
}

}  // namespace
}  // namespace stoker::data
