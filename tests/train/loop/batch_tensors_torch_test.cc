// Batches of every layout and number format become the same tensors, and give their memory back.
#include "stoker/train/loop/batch_tensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "stoker/train/errors.h"
#include "tests/train/doubles/made_speech.h"

namespace stoker::train {
namespace {

const TensorRules kRules{.device = at::kCPU,
                         .scale = {.mean = -4.0, .deviation = 2.0},
                         .num_mels = MadeSpeech::kMels,
                         .max_reference_frames = 12};

struct Row {
  std::vector<std::int64_t> tokens;
  std::vector<float> mel;
  bool operator==(const Row&) const = default;
};

template <class T>
std::vector<T> values_of(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.contiguous();
  return {whole.data_ptr<T>(), whole.data_ptr<T>() + whole.numel()};
}

// What the model would see of each utterance of an epoch.
std::map<std::string, Row> rows_of(const MadeFeed& made) {
  std::map<std::string, Row> rows;
  feed::Feed feed = made.open();
  while (std::optional<feed::Batch> batch = feed.next()) {
    const RowNames names = names_of(*batch);
    const ModelBatch tensors = take_tensors(std::move(*batch), kRules);
    EXPECT_EQ(tensors.tokens.scalar_type(), at::kLong);
    EXPECT_EQ(tensors.mel.scalar_type(), at::kFloat);
    EXPECT_TRUE(at::isfinite(tensors.mel).all().item<bool>());
    for (std::size_t i = 0; i < names.ids.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      EXPECT_EQ(tensors.mel_len[row].item<std::int64_t>(), names.mel_len[i]);
      EXPECT_EQ(tensors.text_len[row].item<std::int64_t>(), names.text_len[i]);
      if (names.mel_len[i] == 0) continue;
      rows[names.ids[i]] = {
          values_of<std::int64_t>(tensors.tokens[row].narrow(0, 0, names.text_len[i])),
          values_of<float>(tensors.mel[row].narrow(0, 0, names.mel_len[i]))};
    }
  }
  return rows;
}

std::map<std::string, Row> expected_rows(const MadeFeed& made) {
  std::map<std::string, Row> rows;
  const MadeSpeech speech(made.num_utterances);
  for (std::uint32_t i = 0; i < made.num_utterances; ++i) {
    if (made.faults.bad.contains(i)) continue;
    Row& row = rows[std::string(speech.id(i))];
    row.tokens.assign(speech.text(i).begin(), speech.text(i).end());
    for (std::uint32_t frame = 0; frame < speech.num_frames(i); ++frame) {
      for (std::uint32_t band = 0; band < MadeSpeech::kMels; ++band) {
        row.mel.push_back((speech.mel(i, frame, band) + 4.0F) / 2.0F);
      }
    }
  }
  return rows;
}

TEST(BatchTensorsTest, BothLayoutsAndHalfPrecisionGiveTheSameValues) {
  for (const feed::BatchLayout layout : {feed::BatchLayout::kPadded, feed::BatchLayout::kPacked}) {
    for (const config::MelDtype dtype : {config::MelDtype::kF32, config::MelDtype::kF16}) {
      const MadeFeed made{.layout = layout, .dtype = dtype};
      EXPECT_EQ(rows_of(made), expected_rows(made));
    }
  }
}

TEST(BatchTensorsTest, Bf16IsRoundedAsTheFeedRounds) {
  const MadeFeed made{.dtype = config::MelDtype::kBf16};
  const std::map<std::string, Row> found = rows_of(made);
  for (const auto& [id, expected] : expected_rows(made)) {
    const Row& row = found.at(id);
    ASSERT_EQ(row.mel.size(), expected.mel.size());
    for (std::size_t i = 0; i < row.mel.size(); ++i) EXPECT_NEAR(row.mel[i], expected.mel[i], 0.01);
  }
}

TEST(BatchTensorsTest, RowsThatFailedAreEmptyInBothLayouts) {
  for (const feed::BatchLayout layout : {feed::BatchLayout::kPadded, feed::BatchLayout::kPacked}) {
    const MadeFeed made{.faults = {.bad = {0, 5, 11}}, .layout = layout};
    EXPECT_EQ(rows_of(made), expected_rows(made));
  }
}

TEST(BatchTensorsTest, ReferencesAreNormalisedAndCutToWhatTheModelTakes) {
  for (const std::uint32_t num_frames : {8U, 20U}) {
    const MadeFeed made{.reference = feed::ReferenceFrom::kSameUtterance,
                        .reference_frames = num_frames};
    feed::Feed feed = made.open();
    feed::Batch batch = next_batch(feed);
    const std::vector<std::int32_t> lengths(batch.reference_len().begin(),
                                            batch.reference_len().end());
    const float first = static_cast<const float*>(batch.reference_mel().data)[0];
    const ModelBatch tensors = take_tensors(std::move(batch), kRules);
    const std::int64_t longest = std::min<std::int64_t>(num_frames, 12);
    EXPECT_EQ(tensors.reference.size(1), longest);
    EXPECT_EQ(tensors.reference[0][0][0].item<float>(), (first + 4.0F) / 2.0F);
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      EXPECT_EQ(tensors.reference_len[static_cast<std::int64_t>(row)].item<std::int64_t>(),
                std::min<std::int64_t>(lengths[row], longest));
    }
  }
  feed::Feed without = MadeFeed{}.open();
  EXPECT_FALSE(take_tensors(next_batch(without), kRules).reference.defined());
}

TEST(BatchTensorsTest, TheTensorsAreNotTheFeedsMemory) {
  feed::Feed feed = MadeFeed{.num_utterances = 6}.open();
  const ModelBatch first = take_tensors(next_batch(feed), kRules);
  const at::Tensor mel = first.mel.clone();
  const at::Tensor tokens = first.tokens.clone();
  for (int i = 0; i < 50; ++i) next_batch(feed);
  EXPECT_TRUE(at::equal(first.mel, mel));
  EXPECT_TRUE(at::equal(first.tokens, tokens));
}

// Rows in another order draw other numbers, so the padded batch is put in the packed one's order.
TEST(BatchTensorsTest, TheModelsLossesAreEqualForBothLayouts) {
  const MadeFeed padded{.num_utterances = 8, .batch_frames = 500};
  MadeFeed packed = padded;
  packed.layout = feed::BatchLayout::kPacked;
  const TtsModel model(small_learner().shape, {.dropout = 0, .seed = 1});
  const auto take = [](const MadeFeed& made) {
    feed::Feed feed = made.open();
    feed::Batch batch = next_batch(feed);
    RowNames names = names_of(batch);
    return std::pair(std::move(names), take_tensors(std::move(batch), kRules));
  };
  const auto [packed_names, packed_rows] = take(packed);
  const auto [padded_names, padded_rows] = take(padded);
  std::vector<std::int64_t> order;
  for (const std::string& id : packed_names.ids) {
    const auto at = std::find(padded_names.ids.begin(), padded_names.ids.end(), id);
    ASSERT_NE(at, padded_names.ids.end()) << id;
    order.push_back(at - padded_names.ids.begin());
  }
  const at::Tensor index = at::tensor(order, at::kLong);
  const ModelBatch sorted{.tokens = padded_rows.tokens.index_select(0, index),
                          .text_len = padded_rows.text_len.index_select(0, index),
                          .mel = padded_rows.mel.index_select(0, index),
                          .mel_len = padded_rows.mel_len.index_select(0, index),
                          .reference = {},
                          .reference_len = {}};
  const Losses one = model.loss(packed_rows, {1, 2}, ModelMode::kTrain);
  const Losses other = model.loss(sorted, {1, 2}, ModelMode::kTrain);
  EXPECT_EQ(one.num_frames.item<float>(), other.num_frames.item<float>());
  EXPECT_NEAR(one.flow.item<float>(), other.flow.item<float>(), 1e-6);
  EXPECT_NEAR(one.prior.item<float>(), other.prior.item<float>(), 1e-6);
  EXPECT_NEAR(one.duration.item<float>(), other.duration.item<float>(), 1e-6);
}

TEST(BatchTensorsTest, MelsOfAnotherNumberOfBandsAreRefused) {
  feed::Feed feed = MadeFeed{}.open();
  TensorRules rules = kRules;
  rules.num_mels = 80;
  try {
    take_tensors(next_batch(feed), rules);
    FAIL() << "was taken";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code->name, "E-TRAIN-SETTINGS");
  }
}

// Against a band-by-band mix in double precision; rows of an evaluation have no number.
TEST(BatchTensorsTest, VoicesOfNumberedBatchesAreStretched) {
  config::MelRecipe recipe;
  recipe.num_mels = MadeSpeech::kMels;
  TensorRules rules = kRules;
  rules.warps = VoiceWarps(recipe, 0.2, 3);
  feed::Feed plain_feed = MadeFeed{}.open();
  feed::Feed feed = MadeFeed{}.open();
  feed::Feed evaluated = MadeFeed{}.open();
  const ModelBatch plain = take_tensors(next_batch(plain_feed), kRules);
  const ModelBatch found = take_tensors(next_batch(feed), rules, 9);
  EXPECT_TRUE(take_tensors(next_batch(evaluated), rules).mel.equal(plain.mel));
  for (std::int64_t row = 0; row < plain.mel.size(0); ++row) {
    const auto places = rules.warps.places_of(rules.warps.draw(9, static_cast<std::uint64_t>(row)));
    for (std::int64_t frame = 0; frame < plain.mel_len[row].item<std::int64_t>(); ++frame) {
      const std::vector<float> before = values_of<float>(plain.mel[row][frame]);
      const std::vector<float> after = values_of<float>(found.mel[row][frame]);
      for (std::size_t mel = 0; mel < before.size(); ++mel) {
        const auto below = static_cast<std::size_t>(places[mel]);
        const double share = places[mel] - std::floor(places[mel]);
        const double high = before[std::min(below + 1, before.size() - 1)];
        ASSERT_NEAR(after[mel], (1 - share) * before[below] + share * high, 1e-4);
      }
    }
  }
}

}  // namespace
}  // namespace stoker::train
