#include "stoker/data/summary.h"

#include <gtest/gtest.h>

#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

TEST(SummaryTest, CountsDurationsSpeakersRatesAndCharacters) {
  DataSet data;
  data.put_wav("wavs/spk1_a.wav", 22050, 1);
  data.put_wav("wavs/spk2_a.wav", 3 * 22050, 2);
  data.put_wav("wavs/spk2_b.wav", 2 * 22050, 3);
  data.put_metadata("spk1_a|x|aab\nspk2_a|x|b\xC3\xA9\nspk2_b|x|c\n");
  data.options.speakers.from = SpeakerSource::kIds;
  const Summary summary = summarise(data.scan());
  EXPECT_DOUBLE_EQ(summary.durations.total_s, 6.0);
  EXPECT_DOUBLE_EQ(summary.durations.shortest_s, 1.0);
  EXPECT_DOUBLE_EQ(summary.durations.mean_s, 2.0);
  EXPECT_DOUBLE_EQ(summary.durations.median_s, 2.0);
  EXPECT_DOUBLE_EQ(summary.durations.longest_s, 3.0);
  EXPECT_EQ(summary.rates_hz.at(22050), 3U);
  ASSERT_EQ(summary.speakers.size(), 2U);
  EXPECT_EQ(summary.speakers[0].name, "spk2");
  EXPECT_DOUBLE_EQ(summary.speakers[0].audio_s, 5.0);
  EXPECT_EQ(summary.characters.at("a"), 2U);
  EXPECT_EQ(summary.characters.at("\xC3\xA9"), 1U);
  EXPECT_DOUBLE_EQ(summary.characters_per_s, 1.0);
}

TEST(SummaryTest, TheVoicesAreOneLine) {
  DataSet data;
  data.put_ids({"spk1_a", "spk2_a"});
  data.put_metadata("spk1_a|x|some\nspk2_a|x|some\n");
  EXPECT_EQ(voices_text(data.scan()), "1 speaker, language en");
  data.options.speakers.from = SpeakerSource::kIds;
  data.options.sources[0].language = "fa";
  EXPECT_EQ(voices_text(data.scan()), "2 speakers, language fa");
}

TEST(SummaryTest, AnEmptyIndexHasZeros) {
  const Summary summary = summarise(Index());
  EXPECT_EQ(summary.durations.total_s, 0.0);
  EXPECT_TRUE(summary.speakers.empty());
  EXPECT_EQ(voices_text(Index()), "none");
}

TEST(HistogramTest, TheLargestValueFallsIntoTheLastBin) {
  const Histogram histogram = histogram_of({0.0, 1.0, 3.9, 4.0}, 4);
  EXPECT_DOUBLE_EQ(histogram.bin_width, 1.0);
  EXPECT_EQ(histogram.counts, (std::vector<std::uint64_t>{1, 1, 0, 2}));
  EXPECT_EQ(histogram_of({}, 3).counts, (std::vector<std::uint64_t>{0, 0, 0}));
}

}  // namespace
}  // namespace stoker::data
