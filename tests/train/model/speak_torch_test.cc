// What the model speaks: lengths, order, repeatability, rows that are empty.
#include <gtest/gtest.h>

#include "tests/train/model/model_batches.h"

namespace stoker::train {
namespace {

class SpeakTest : public testing::Test {
 protected:
  SpeakTest() : model_(small_shape(), {}) {
    stir(model_);
    request_ = make_batch(small_shape(), {{5, 0}, {0, 0}, {8, 0}}, {8, 1});
    request_.reference = random_values({3, 10, 8}, 3);
    request_.reference_len = lengths_of({{10, 0}, {0, 0}, {7, 0}}, &RowLength::tokens);
  }
  SpokenBatch speak(const SpeakOptions& options = {.num_steps = 4}) const {
    return model_.speak(request_, options);
  }

  TtsModel model_;
  ModelBatch request_;
};

TEST_F(SpeakTest, EveryTokenAndBothEdgesAreSpokenInOrder) {
  const SpokenBatch spoken = speak();
  const std::int64_t* lengths = spoken.mel_len.const_data_ptr<std::int64_t>();
  EXPECT_EQ(lengths[1], 0);
  EXPECT_EQ(spoken.mel.sizes(), (at::IntArrayRef{3, std::max(lengths[0], lengths[2]), 8}));
  for (const auto& [row, last] : {std::pair<std::int64_t, std::int64_t>{0, 6}, {2, 9}}) {
    const at::Tensor way = spoken.token_of_frame[row].narrow(0, 0, lengths[row]);
    EXPECT_EQ(way[0].item<std::int64_t>(), 0);
    EXPECT_EQ(way[-1].item<std::int64_t>(), last);
    const at::Tensor steps = way.diff();
    EXPECT_GE(steps.min().item<std::int64_t>(), 0);
    EXPECT_LE(steps.max().item<std::int64_t>(), 1);
  }
  const at::Tensor behind = length_mask(spoken.mel_len, spoken.mel.size(1)).logical_not();
  EXPECT_EQ(spoken.mel.masked_select(behind.unsqueeze(2)).abs().sum().item<float>(), 0);
}

TEST_F(SpeakTest, TheKeyDecidesTheNoise) {
  EXPECT_TRUE(at::equal(speak().mel, speak().mel));
  EXPECT_FALSE(at::equal(speak().mel, speak({.num_steps = 4, .key = {1, 0}}).mel));
}

TEST_F(SpeakTest, SpeedShortensAndNothingIsLongerThanAllowed) {
  const at::Tensor slow = speak({.num_steps = 1, .speed = 0.5}).mel_len;
  const at::Tensor fast = speak({.num_steps = 1, .speed = 2}).mel_len;
  EXPECT_GT(slow[0].item<std::int64_t>(), 2 * fast[0].item<std::int64_t>());
  EXPECT_EQ(speak({.num_steps = 1, .max_frames = 20}).mel_len.max().item<std::int64_t>(), 20);
  const SpokenBatch fastest = speak({.num_steps = 1, .speed = 1e6});
  EXPECT_EQ(fastest.mel_len[0].item<std::int64_t>(), 7);
}

TEST_F(SpeakTest, RowsDoNotHearEachOther) {
  const SpokenBatch together = speak();
  ModelBatch alone = request_;
  alone.tokens = request_.tokens.narrow(0, 0, 1).narrow(1, 0, 5);
  alone.text_len = request_.text_len.narrow(0, 0, 1);
  alone.reference = request_.reference.narrow(0, 0, 1);
  alone.reference_len = request_.reference_len.narrow(0, 0, 1);
  const SpokenBatch single = model_.speak(alone, {.num_steps = 4});
  const std::int64_t length = single.mel_len[0].item<std::int64_t>();
  EXPECT_EQ(length, together.mel_len[0].item<std::int64_t>());
  EXPECT_TRUE(at::allclose(single.mel[0], together.mel[0].narrow(0, 0, length), 1e-4, 1e-4));
}

TEST_F(SpeakTest, AReferenceOfNoFramesIsSilent) {
  request_.reference = at::zeros({3, 0, 8});
  request_.reference_len.zero_();
  EXPECT_TRUE(speak().mel.isfinite().all().item<bool>());
}

TEST_F(SpeakTest, OnlyEmptyTextsGiveNoFrames) {
  request_.text_len.zero_();
  const SpokenBatch spoken = speak();
  EXPECT_EQ(spoken.mel.sizes(), (at::IntArrayRef{3, 0, 8}));
  EXPECT_EQ(spoken.mel_len.sum().item<std::int64_t>(), 0);
}

}  // namespace
}  // namespace stoker::train
