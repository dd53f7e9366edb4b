#include "stoker/train/model/tts_model.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stoker::train
