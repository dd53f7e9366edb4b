// Digests that name features, samples and tokens, and the tokens themselves.
#include "stoker/data/features/feature_spec.h"

#include <gtest/gtest.h>

#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

TEST(FeatureIdentityTest, AnotherHopIsAnotherMelFromTheSameSamples) {
  config::Settings settings;
  const FeatureIdentity before(settings);
  settings.features.hop_samples = 200;
  const FeatureIdentity after(settings);
  EXPECT_NE(before.features, after.features);
  EXPECT_EQ(before.samples, after.samples);
  EXPECT_EQ(before.text, after.text);
}

TEST(FeatureIdentityTest, AnotherRateIsOtherSamples) {
  config::Settings settings;
  const FeatureIdentity before(settings);
  settings.features.sample_rate_hz = 16'000;
  settings.features.fmax_hz = 8000.0;
  EXPECT_NE(before.samples, FeatureIdentity(settings).samples);
}

TEST(FeatureIdentityTest, AnotherCleanerLeavesTheFeaturesAlone) {
  config::Settings settings;
  const FeatureIdentity before(settings);
  settings.text.cleaner = "none";
  const FeatureIdentity after(settings);
  EXPECT_EQ(before.features, after.features);
  EXPECT_NE(before.text, after.text);
}

// A cache of data whose language was given by hand stays valid when the data set records it.
TEST(FeatureSpecTest, ARecordedLanguageIsTheSameSettingAsOneGivenByHand) {
  DataSet data;
  data.put_ids({"a"});
  data.put_metadata("a|x|گفتم که می‌آیم\n");
  config::Settings by_hand;
  by_hand.text.language = "fa";
  data.options.sources[0].language = "fa";
  const Index given = data.scan();
  const FeatureSpec with_flag(by_hand, given, SimdLevel::kScalar);
  data.options.sources[0].language.clear();
  data.folder.put("stoker.json", R"({"language": "fa"})");
  const Index recorded = data.scan();
  const FeatureSpec without_flag({}, recorded, SimdLevel::kScalar);
  EXPECT_EQ(with_flag.identity().text_values, without_flag.identity().text_values);
  EXPECT_EQ(with_flag.tokenizer_digest(), without_flag.tokenizer_digest());
  EXPECT_EQ(with_flag.text_digest(given[0]), without_flag.text_digest(recorded[0]));
  EXPECT_NE(without_flag.tokenizer_digest(),
            FeatureSpec({}, Index(), SimdLevel::kScalar).tokenizer_digest());
}

TEST(FeatureSpecTest, TokensAreThoseOfTheUtterancesOwnText) {
  DataSet data;
  data.put_ids({"a", "b"});
  data.put_metadata("a|x|one\nb|x|another text\n");
  const Index index = data.scan();
  config::Settings settings;
  const FeatureSpec spec(settings, index, SimdLevel::kScalar);
  UtteranceTokenizer tokenizer(spec);
  ASSERT_EQ(index.size(), 2U);
  const auto first = tokenizer.tokenize(index[0]);
  ASSERT_TRUE(first);
  const std::vector<std::int32_t> kept(first->begin(), first->end());
  ASSERT_GT(tokenizer.tokenize(index[1]).take_or_raise().size(), kept.size());
  const auto again = tokenizer.tokenize(index[0]).take_or_raise();
  EXPECT_EQ(std::vector<std::int32_t>(again.begin(), again.end()), kept);
  EXPECT_EQ(spec.spoken_text(index[0]), index[0].text);
  EXPECT_NE(spec.text_digest(index[0]), spec.text_digest(index[1]));
}

}  // namespace
}  // namespace stoker::data
