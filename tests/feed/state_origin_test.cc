// What a refused state names: settings with both values, utterances by id, and the plain refusal
// where nothing was kept.
#include "stoker/feed/state_origin.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "stoker/feed/errors.h"
#include "stoker/feed/open_feed.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

StateOrigin example() {
  StateOrigin origin;
  origin.identity = {.data = "00112233445566aa",
                     .order = "00112233445566bb",
                     .feature = "00112233445566cc",
                     .text = "00112233445566dd",
                     .path = "avx512",
                     .seed = 42};
  origin.settings = {{"order", "data.batch_size", "4"}, {"feature", "features.preset", "\"xtts\""}};
  origin.num_utterances = 2;
  origin.utterances = {{"a \"b\"", "01234567"}, {"چ", "89abcdef"}};
  return origin;
}

TEST(StateOriginTest, RoundTrips) { EXPECT_EQ(decode_origin(encode_origin(example())), example()); }

TEST(StateOriginTest, OtherBytesAreNoOrigin) {
  const std::string good = encode_origin(example());
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(decode_origin(changed)) << at;
    EXPECT_FALSE(decode_origin(good.substr(0, at))) << at;
  }
  EXPECT_FALSE(decode_origin(good + "\n"));
}

// A state with its origin, and what a feed with other settings or data says to it.
class RefusalTest : public testing::Test {
 protected:
  void SetUp() override {
    set_.settings().loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
    set_.settings().batch.batch_size = 4;
    save();
  }
  void save() {
    OpenedFeed opened = open_feed(set_.settings());
    state_ = opened.feed.state();
    origin_ = opened.feed.state_origin();
  }
  Error refusal(const config::Settings& settings) const {
    try {
      open_feed(settings, {.state = state_, .state_origin = origin_});
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, &kFeedChanged);
      return failure.error();
    }
    ADD_FAILURE() << "the state was accepted";
    return {};
  }
  // Of metadata.csv, as one text to the next.
  void replace_in_list(const std::string& from, const std::string& to) const {
    const std::string path = set_.folder() / "metadata.csv";
    std::ostringstream read;
    read << std::ifstream(path).rdbuf();
    std::string text = read.str();
    ASSERT_NE(text.find(from), std::string::npos) << text;
    text.replace(text.find(from), from.size(), to);
    std::ofstream(path) << text;
  }

  SmallDataSet set_{12};
  std::string state_, origin_;
};

TEST_F(RefusalTest, ASettingIsNamedWithBothValuesAndHowToGiveItBack) {
  config::Settings other = set_.settings();
  other.batch.batch_size = 5;
  const Error error = refusal(other);
  EXPECT_EQ(error.found, "since the state was saved: data.batch_size 4 → 5");
  EXPECT_EQ(error.cure, "--set data.batch_size=4 goes on from the state; or start without it");
}

TEST_F(RefusalTest, SettingsOfSeveralGroupsAreNamedTogether) {
  config::Settings other = set_.settings();
  other.batch.shuffle = false;
  other.text.add_blank = true;
  other.run.seed = 7;
  const std::string found = refusal(other).found;
  EXPECT_NE(found.find("data.shuffle true → false"), std::string::npos) << found;
  EXPECT_NE(found.find("text.add_blank false → true"), std::string::npos) << found;
  EXPECT_NE(found.find("seed 42 → 7"), std::string::npos) << found;
}

TEST_F(RefusalTest, APresetIsNamedBeforeTheValuesItBrings) {
  config::Settings other = set_.settings();
  other.features.preset = "tacotron2";
  const std::string found = refusal(other).found;
  EXPECT_NE(found.find("saved: features.preset hifigan → tacotron2"), std::string::npos) << found;
}

TEST_F(RefusalTest, MoreThanFourSettingsAreCounted) {
  config::Settings other = set_.settings();
  other.batch.batch_size = 5;
  other.batch.shuffle = false;
  other.batch.drop_last = true;
  other.batch.static_shapes = true;
  other.batch.with_audio = true;
  other.batch.max_shapes = 3;
  const std::string found = refusal(other).found;
  EXPECT_NE(found.find("2 more settings"), std::string::npos) << found;
}

TEST_F(RefusalTest, UtterancesAreNamedById) {
  replace_in_list("sentence number 3xxx", "another text");
  replace_in_list("spk1_1001|", "new_1001|");
  std::filesystem::copy_file(set_.wav(1), set_.folder() / "wavs/new_1001.wav");
  const Error error = refusal(set_.settings());
  EXPECT_EQ(error.found,
            "since the state was saved: utterances: 1 added (new_1001), 1 removed (spk1_1001), "
            "1 changed (spk0_1003)");
  EXPECT_TRUE(error.cure.empty());
}

TEST_F(RefusalTest, ASubsetIsNamedWithTheUtterancesItRemoves) {
  config::Settings other = set_.settings();
  other.data.train_subset_fraction = 0.5;
  const std::string found = refusal(other).found;
  EXPECT_NE(found.find("data.train_subset_fraction 1 → 0.5, utterances: "), std::string::npos)
      << found;
  EXPECT_NE(found.find(" removed ("), std::string::npos) << found;
}

TEST_F(RefusalTest, ALimitOfTokensIsAnotherOrder) {
  config::Settings other = set_.settings();
  other.rows.max_text_tokens = 10'000;
  EXPECT_EQ(refusal(other).found, "since the state was saved: data.max_text_tokens none → 10000");
}

TEST_F(RefusalTest, WithoutItsOriginAStateIsRefusedByDigests) {
  config::Settings other = set_.settings();
  other.batch.batch_size = 5;
  origin_.pop_back();
  EXPECT_NE(refusal(other).found.find("order settings "), std::string::npos);
}

TEST_F(RefusalTest, TheOriginOfAnotherRunNamesNothingWrong) {
  config::Settings other = set_.settings();
  other.batch.batch_size = 6;
  OpenedFeed opened = open_feed(other);
  state_ = opened.feed.state();  // of 6 rows, beside the origin of 4
  other.batch.batch_size = 5;
  const std::string found = refusal(other).found;
  EXPECT_NE(found.find("order settings "), std::string::npos) << found;
  EXPECT_EQ(found.find("batch_size"), std::string::npos) << found;
}

TEST_F(RefusalTest, RestoreNamesTheSame) {
  config::Settings other = set_.settings();
  other.batch.batch_size = 5;
  OpenedFeed opened = open_feed(other);
  try {
    opened.feed.restore(state_, origin_);
    FAIL() << "the state was accepted";
  } catch (const Failure& failure) {
    EXPECT_NE(failure.error().found.find("data.batch_size 4 → 5"), std::string::npos);
  }
}

}  // namespace
}  // namespace stoker::feed
