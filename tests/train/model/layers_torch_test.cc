// Masks and rows of the model's parts: padding moves nothing, and rows do not know their
// neighbours.
#include <gtest/gtest.h>

#include "stoker/train/model/decoder.h"
#include "stoker/train/model/encoders.h"
#include "stoker/train/model/losses.h"
#include "tests/train/model/model_batches.h"

namespace stoker::train {
namespace {

at::Tensor indices(std::initializer_list<std::int64_t> values) {
  return at::tensor(std::vector<std::int64_t>(values), at::kLong);
}

void fill_zeros(const ParameterSet& set) {
  const at::NoGradGuard no_gradient;
  std::uint32_t site = 500;
  for (const NamedTensor& parameter : set.all())
    parameter.tensor.add_(random_values(parameter.tensor.sizes(), site++), 0.1);
}

TEST(ReferenceEncoderTest, LengthsCutTheReference) {
  ParameterSet set(1);
  const ReferenceEncoder encoder(set, small_shape());
  fill_zeros(set);
  const at::Tensor mel = random_values({2, 12, 8}, 1);
  const Voice whole = encoder(mel, indices({7, 12}));
  const Voice cut = encoder(mel.narrow(0, 0, 1).narrow(1, 0, 7), indices({7}));
  EXPECT_TRUE(at::allclose(whole.latents[0], cut.latents[0], 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(whole.vector[0], cut.vector[0], 1e-5, 1e-6));
  const Voice turned = encoder(mel.flip(0), indices({12, 7}));
  EXPECT_TRUE(at::allclose(whole.vector, turned.vector.flip(0), 1e-5, 1e-6));
}

TEST(TextEncoderTest, RowsAndTheirOrderAreIndependent) {
  ParameterSet set(1);
  const TextEncoder encoder(set, small_shape());
  const DurationPredictor duration(set, small_shape());
  fill_zeros(set);
  const ModelBatch batch = make_batch(small_shape(), {{5, 0}, {9, 0}, {2, 0}}, {9, 1});
  const at::Tensor latents = random_values({3, 4, 16}, 2);
  const at::Tensor order = indices({2, 0, 1});
  const EdgedText text = with_edges(batch.tokens, batch.text_len, 11);
  const EdgedText moved =
      with_edges(batch.tokens.index_select(0, order), batch.text_len.index_select(0, order), 11);
  const at::Tensor hidden = encoder(text, latents, {});
  const at::Tensor other = encoder(moved, latents.index_select(0, order), {});
  EXPECT_TRUE(at::allclose(hidden.index_select(0, order), other, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(duration(hidden, text.mask, {}).index_select(0, order),
                           duration(other, moved.mask, {}), 1e-5, 1e-6));
  const EdgedText cut =
      with_edges(batch.tokens.narrow(1, 0, 2).narrow(0, 2, 1), batch.text_len.narrow(0, 2, 1), 11);
  EXPECT_TRUE(at::allclose(hidden[2].narrow(0, 0, 4), encoder(cut, latents.narrow(0, 2, 1), {})[0],
                           1e-5, 1e-6));
}

TEST(DecoderTest, RowsAndTheirOrderAreIndependent) {
  for (const std::int64_t frames_a_place : {1, 2, 3}) {
    ModelShape shape = small_shape();
    shape.decoder_frames = frames_a_place;
    ParameterSet set(1);
    const Decoder decoder(set, shape);
    fill_zeros(set);
    const at::Tensor mean = random_values({3, 4, 8}, 1);
    const at::Tensor hidden = random_values({3, 4, 16}, 2);
    const at::Tensor noisy = random_values({3, 11, 8}, 3);
    const at::Tensor voice = random_values({3, 24}, 4);
    const at::Tensor time = at::tensor({0.1F, 0.5F, 0.9F});
    const at::Tensor lengths = indices({7, 11, 4});
    const at::Tensor token = at::arange(11, at::kLong).floor_divide(3).expand({3, 11});
    const auto run = [&](const at::Tensor& rows, std::int64_t num_frames) {
      const auto cut = [&](const at::Tensor& values) {
        return values.index_select(0, rows).narrow(1, 0, num_frames);
      };
      const at::Tensor mask = length_mask(lengths.index_select(0, rows), num_frames);
      const at::Tensor condition = decoder.condition(
          {mean.index_select(0, rows), hidden.index_select(0, rows), cut(token), mask});
      return decoder.velocity(
          {cut(noisy), condition, time.index_select(0, rows), voice.index_select(0, rows), mask});
    };
    const at::Tensor all = run(indices({0, 1, 2}), 11);
    const at::Tensor turned = run(indices({2, 0, 1}), 11);
    EXPECT_TRUE(at::allclose(turned.index_select(0, indices({1, 2, 0})), all, 1e-5, 1e-6));
    const at::Tensor single = run(indices({0}), 7);
    EXPECT_TRUE(at::allclose(single[0], all[0].narrow(0, 0, 7), 1e-5, 1e-6)) << frames_a_place;
  }
}

TEST(EdgedTextTest, EdgesStandAroundEveryText) {
  const EdgedText text =
      with_edges(at::tensor({1, 2, 3, 4, 9, 9}, at::kLong).view({2, 3}), indices({3, 1}), 11);
  EXPECT_TRUE(
      at::equal(text.ids, at::tensor({11, 1, 2, 3, 12, 11, 4, 12, 0, 0}, at::kLong).view({2, 5})));
  EXPECT_TRUE(at::equal(text.lengths, indices({5, 3})));
}

TEST(CropPromptTest, IsInsideTheUtteranceAndAtMostHalfOfIt) {
  const at::Tensor mel = at::arange(40, at::kFloat).view({1, 40, 1}).expand({6, 40, 2});
  const at::Tensor lengths = indices({40, 40, 21, 7, 1, 0});
  const at::Tensor crop = at::tensor({0.0F, 0.999999F, 0.5F, 0.9F, 0.9F, 0.9F});
  const Prompt prompt = crop_prompt(mel, lengths, crop, 12);
  EXPECT_TRUE(at::equal(prompt.lengths, indices({12, 12, 10, 3, 0, 0})));
  EXPECT_TRUE(at::equal(prompt.is_loss.sum(1), indices({28, 28, 11, 4, 1, 0})));
  EXPECT_EQ(prompt.mel[0][0][0].item<float>(), 0);
  EXPECT_EQ(prompt.mel[1][11][0].item<float>(), 39);
  EXPECT_EQ(prompt.mel[2][0][0].item<float>(), 6);
  EXPECT_FALSE(prompt.is_loss[2][6].item<bool>());
  EXPECT_TRUE(prompt.is_loss[2][5].item<bool>());
}

TEST(AlignTest, FindsStatesInOrderAndTokensOfDenseRowsWhole) {
  const std::int64_t num_tokens = 3;
  const at::Tensor states = random_values({2, num_tokens, kStatesPerToken, 8}, 4) * 3;
  const at::Tensor way = indices({0, 0, 1, 1, 1, 2, 3, 3, 4, 5, 5, 5, 5, 6, 6, 7, 7, 8, 8, 8});
  at::Tensor target = random_values({2, 20, 8}, 5) * 0.1;
  target[0] += states[0].flatten(0, 1).index_select(0, way);
  const at::Tensor short_way = indices({0, 0, 1, 2, 2});
  target[1].narrow(0, 0, 5) += states[1].mean(1).index_select(0, short_way);
  const Alignment found = align({states, target, indices({3, 3}), indices({20, 5}), {}});
  EXPECT_TRUE(at::equal(found.state_of_frame[0], way));
  EXPECT_TRUE(at::equal(found.token_of_frame[0], way.floor_divide(kStatesPerToken)));
  EXPECT_TRUE(at::equal(found.token_of_frame[1].narrow(0, 0, 5), short_way));
  EXPECT_TRUE(at::allclose(aligned_states(states, found)[1][2], states[1][1].mean(0)));
}

TEST(AlignTest, TheFirstBatchesArePulledToTheDiagonal) {
  EXPECT_GT(diagonal_pull(0), diagonal_pull(50));
  EXPECT_EQ(diagonal_pull(100), 0);
  EXPECT_EQ(diagonal_pull(1'000'000), 0);
  const at::Tensor states = random_values({1, 4, kStatesPerToken, 8}, 4);
  const at::Tensor target = random_values({1, 48, 8}, 5);
  const Alignment found = align({states, target, indices({4}), indices({48}), 1e6});
  EXPECT_TRUE(at::equal(found.token_of_frame[0], at::arange(48, at::kLong).floor_divide(12)));
}

TEST(AlignmentTargetTest, FollowsTheQuieterOfTwoLevels) {
  const at::Tensor mask = length_mask(indices({12}), 14);
  const at::Tensor level = at::full({1, 14, 1}, 1.5);
  const at::Tensor steady = alignment_target(level, mask);
  EXPECT_TRUE(at::allclose(steady.narrow(1, 0, 12), steady.narrow(1, 5, 1)));
  EXPECT_EQ(steady.narrow(1, 12, 2).abs().max().item<float>(), 0);
  at::Tensor fall = level.clone();
  fall.narrow(1, 6, 8).fill_(-1.5);
  const at::Tensor target = alignment_target(fall, mask).flatten();
  EXPECT_LT((target[5] - target[6]).item<float>(), 0.25 * (target[0] - target[11]).item<float>());
  EXPECT_GT((target[4] - target[5]).item<float>(), 0.6 * (target[0] - target[11]).item<float>());
}

TEST(AlignmentTargetTest, SilenceWithoutEndIsANumber) {
  const at::Tensor mask = length_mask(indices({4, 0}), 4);
  const at::Tensor silent = alignment_target(at::full({2, 4, 3}, -1e6), mask);
  EXPECT_TRUE(silent.isfinite().all().item<bool>());
}

TEST(DrawTest, DropoutKeepsTheMean) {
  const at::Tensor ones = at::ones({40, 500});
  const at::Tensor dropped = drop(ones, {{1, 2}, 0.25}, 3);
  EXPECT_NEAR(dropped.mean().item<float>(), 1, 0.02);
  EXPECT_NEAR(dropped.eq(0).to(at::kFloat).mean().item<float>(), 0.25, 0.02);
  EXPECT_TRUE(at::equal(drop(ones, {{1, 2}, 0}, 3), ones));
}

}  // namespace
}  // namespace stoker::train
