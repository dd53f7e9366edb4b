#include "stoker/train/model/tts_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/train/model/model_batches.h"

namespace stoker::train {
namespace {

const std::vector<RowLength> kRows{{5, 30}, {8, 41}, {0, 0}, {9, 10}, {3, 12}};
const RowLength kRoom{9, 41};

std::uint64_t num_values(const TtsModel& model) {
  std::uint64_t count = 0;
  for (const NamedTensor& parameter : model.parameters())
    count += static_cast<std::uint64_t>(parameter.tensor.numel());
  return count;
}

struct Outcome {
  Losses losses;
  std::vector<at::Tensor> gradients;
};

Outcome run(const TtsModel& model, const ModelBatch& batch, ModelMode mode = ModelMode::kTrain,
            const StepKey& key = {1, 2}) {
  Outcome outcome{model.loss(batch, key, mode), {}};
  outcome.losses.total().backward();
  for (const NamedTensor& parameter : model.parameters()) {
    const at::Tensor gradient = parameter.tensor.grad();
    outcome.gradients.push_back(gradient.defined() ? gradient.clone()
                                                   : at::zeros_like(parameter.tensor));
    parameter.tensor.mutable_grad().reset();
  }
  return outcome;
}

std::vector<at::Tensor> scalars(const Losses& losses) {
  return {losses.duration, losses.prior, losses.flow, losses.num_frames};
}

TEST(TtsModelTest, CountsItsParameters) {
  const TtsModel small(small_shape(), {});
  EXPECT_EQ(num_values(small), count_parameters(small_shape()));
  const ModelShape tiny = shape_of(config::ModelSize::kTiny, 64, 80);
  EXPECT_EQ(num_values(TtsModel(tiny, {})), count_parameters(tiny));
}

TEST(TtsModelTest, EqualSeedsMakeEqualModels) {
  const TtsModel one(small_shape(), {.seed = 3});
  const TtsModel two(small_shape(), {.seed = 3});
  const TtsModel other(small_shape(), {.seed = 4});
  for (std::size_t i = 0; i < one.parameters().size(); ++i) {
    const NamedTensor& parameter = one.parameters()[i];
    EXPECT_EQ(parameter.name, two.parameters()[i].name);
    EXPECT_TRUE(at::equal(parameter.tensor, two.parameters()[i].tensor));
  }
  EXPECT_FALSE(at::equal(one.parameters()[0].tensor, other.parameters()[0].tensor));
}

TEST(TtsModelTest, EveryParameterLearns) {
  const TtsModel model(small_shape(), {});
  stir(model);
  const Outcome outcome = run(model, make_batch(small_shape(), kRows, kRoom));
  for (const at::Tensor& loss : scalars(outcome.losses)) EXPECT_TRUE(loss.isfinite().item<bool>());
  for (std::size_t i = 0; i < outcome.gradients.size(); ++i) {
    EXPECT_TRUE(outcome.gradients[i].isfinite().all().item<bool>()) << model.parameters()[i].name;
    EXPECT_GT(outcome.gradients[i].abs().max().item<float>(), 0) << model.parameters()[i].name;
  }
}

// Bitwise, as long as the shapes are the same: what is masked is multiplied by exact zeros.
TEST(TtsModelTest, PaddingHasNoEffectOnLossesAndGradients) {
  for (const std::int64_t frames_a_place : {1, 2}) {
    ModelShape shape = small_shape();
    shape.decoder_frames = frames_a_place;
    const TtsModel model(shape, {});
    stir(model);
    ModelBatch batch = make_batch(shape, kRows, kRoom);
    const Outcome before = run(model, batch);
    const at::Tensor behind_text = length_mask(batch.text_len, kRoom.tokens).logical_not();
    const at::Tensor behind_mel = length_mask(batch.mel_len, kRoom.frames).logical_not();
    batch.tokens = batch.tokens.masked_fill(behind_text, 1'000'000);
    batch.mel = batch.mel.masked_fill(behind_mel.unsqueeze(2), NAN);
    const Outcome after = run(model, batch);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_TRUE(at::equal(scalars(before.losses)[i], scalars(after.losses)[i]));
    EXPECT_TRUE(at::equal(before.losses.token_of_frame, after.losses.token_of_frame));
    for (std::size_t i = 0; i < before.gradients.size(); ++i)
      EXPECT_TRUE(at::equal(before.gradients[i], after.gradients[i])) << model.parameters()[i].name;
  }
}

// Rows that cannot be aligned are as good as absent, and so is room behind all rows.
TEST(TtsModelTest, MoreRoomChangesNothingButRounding) {
  for (const std::int64_t frames_a_place : {1, 2}) {
    ModelShape shape = small_shape();
    shape.decoder_frames = frames_a_place;
    const TtsModel model(shape, {});
    stir(model);
    const ModelBatch tight = make_batch(shape, {{5, 30}, {8, 41}}, {8, 41});
    ModelBatch wide = make_batch(shape, {{5, 30}, {8, 41}, {0, 0}, {9, 10}}, {12, 64});
    wide.tokens.slice(0, 0, 2).slice(1, 0, 8).copy_(tight.tokens);
    wide.mel.slice(0, 0, 2).slice(1, 0, 41).copy_(tight.mel);
    const Outcome one = run(model, tight, ModelMode::kEvaluate);
    const Outcome two = run(model, wide, ModelMode::kEvaluate);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_TRUE(at::allclose(scalars(one.losses)[i], scalars(two.losses)[i], 1e-5, 1e-6)) << i;
    for (std::size_t i = 0; i < one.gradients.size(); ++i)
      EXPECT_TRUE(at::allclose(one.gradients[i], two.gradients[i], 1e-4, 1e-6))
          << model.parameters()[i].name;
  }
}

TEST(TtsModelTest, ABatchOfEmptyRowsHasNoLossAndNoGradient) {
  const TtsModel model(small_shape(), {});
  stir(model);
  for (const RowLength row : {RowLength{0, 0}, RowLength{4, 5}, RowLength{0, 9}, RowLength{2, 1}}) {
    const Outcome outcome = run(model, make_batch(small_shape(), {row, row}, {4, 9}));
    EXPECT_EQ(outcome.losses.total().item<float>(), 0);
    EXPECT_EQ(outcome.losses.num_frames.item<float>(), 0);
    EXPECT_EQ(outcome.losses.token_of_frame.abs().max().item<std::int64_t>(), 0);
    for (const at::Tensor& gradient : outcome.gradients)
      EXPECT_EQ(gradient.abs().max().item<float>(), 0);
  }
}

TEST(TtsModelTest, ABatchWithoutRoomHasNoLoss) {
  const TtsModel model(small_shape(), {});
  const Losses losses =
      model.loss(make_batch(small_shape(), {{0, 0}, {0, 0}}, {0, 0}), {}, ModelMode::kTrain);
  EXPECT_EQ(losses.total().item<float>(), 0);
  EXPECT_EQ(losses.token_of_frame.sizes(), (at::IntArrayRef{2, 0}));
}

TEST(TtsModelTest, StepsAreFunctionsOfSeedAndStep) {
  const TtsModel model(small_shape(), {});
  stir(model);
  const ModelBatch batch = make_batch(small_shape(), kRows, kRoom);
  const float first = run(model, batch).losses.total().item<float>();
  EXPECT_EQ(run(model, batch).losses.total().item<float>(), first);
  EXPECT_NE(run(model, batch, ModelMode::kTrain, {1, 3}).losses.total().item<float>(), first);
  EXPECT_NE(run(model, batch, ModelMode::kTrain, {2, 2}).losses.total().item<float>(), first);
  EXPECT_NE(run(model, batch, ModelMode::kEvaluate).losses.total().item<float>(), first);
}

TEST(TtsModelTest, AnotherUtteranceAsReferenceLeavesEveryFrameInTheLoss) {
  const TtsModel model(small_shape(), {});
  ModelBatch batch = make_batch(small_shape(), {{5, 30}, {8, 41}}, {8, 41});
  const float own = model.loss(batch, {}, ModelMode::kEvaluate).num_frames.item<float>();
  EXPECT_EQ(own, 30 - 12 + 41 - 12);
  batch.reference = random_values({2, 9, 8}, 7);
  batch.reference_len = at::full({2}, 9, at::kLong);
  EXPECT_EQ(model.loss(batch, {}, ModelMode::kEvaluate).num_frames.item<float>(), 71);
}

}  // namespace
}  // namespace stoker::train
