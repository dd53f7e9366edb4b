#include <gtest/gtest.h>

#include <random>

#include "stoker/train/model/packed/packed_rows.h"
#include "tests/train/model/model_batches.h"

namespace stoker::train {
namespace {

struct Outcome {
  Losses losses;
  std::vector<at::Tensor> gradients;
};

template <class Batch>
Outcome run(const TtsModel& model, const Batch& batch, const StepKey& key, ModelMode mode) {
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

// The rows of a padded batch end to end, with room behind the last that holds what must not matter.
PackedBatch packed(const ModelBatch& batch, std::int64_t more_tokens, std::int64_t more_frames) {
  std::vector<at::Tensor> tokens;
  std::vector<at::Tensor> mels;
  for (std::int64_t row = 0; row < batch.text_len.size(0); ++row) {
    tokens.push_back(batch.tokens[row].narrow(0, 0, batch.text_len[row].item<std::int64_t>()));
    mels.push_back(batch.mel[row].narrow(0, 0, batch.mel_len[row].item<std::int64_t>()));
  }
  tokens.push_back(at::full({more_tokens}, 1'000'000, at::kLong));
  mels.push_back(at::full({more_frames, batch.mel.size(2)}, NAN));
  return {.tokens = at::cat(tokens),
          .text_len = batch.text_len,
          .mel = at::cat(mels),
          .mel_len = batch.mel_len,
          .reference = batch.reference,
          .reference_len = batch.reference_len,
          .longest_text = batch.tokens.size(1),
          .longest_mel = batch.mel.size(1)};
}

void expect_alike(const Outcome& one, const Outcome& two, const TtsModel& model) {
  const auto scalars = [](const Losses& losses) {
    return std::vector<at::Tensor>{losses.duration, losses.prior, losses.flow, losses.alignment,
                                   losses.num_frames};
  };
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(at::allclose(scalars(one.losses)[i], scalars(two.losses)[i], 1e-4, 1e-6))
        << i << ": " << scalars(one.losses)[i].item<float>() << " and "
        << scalars(two.losses)[i].item<float>();
  }
  for (std::size_t i = 0; i < one.gradients.size(); ++i) {
    const at::Tensor& wanted = one.gradients[i];
    const double most = (wanted - two.gradients[i]).abs().max().item<double>();
    EXPECT_LE(most, 1e-5 + 1e-3 * wanted.abs().max().item<double>()) << model.parameters()[i].name;
  }
}

TEST(PackedLossTest, IsThatOfPaddedRows) {
  std::mt19937 random(7);
  const auto any = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < 24; ++round) {
    ModelShape shape = small_shape();
    shape.decoder_frames = any(1, 3);
    const TtsModel model(shape, {.dropout = round % 3 == 0 ? 0.0 : 0.2, .seed = 3});
    stir(model);
    std::vector<RowLength> rows;
    for (std::int64_t row = any(1, 6); row > 0; --row) {
      rows.push_back(any(0, 5) == 0 ? RowLength{any(0, 9), any(0, 9)}
                                    : RowLength{any(1, 9), any(11, 61)});
    }
    ModelBatch batch = make_batch(shape, rows, {9, 61});
    if (round % 4 == 1) {
      const auto num_rows = static_cast<std::int64_t>(rows.size());
      batch.reference = random_values({num_rows, 12, shape.num_mels}, 77);
      batch.reference_len = at::arange(num_rows, at::kLong).remainder(12).add(1);
    }
    const StepKey key{1, static_cast<std::uint64_t>(any(0, 300))};
    const ModelMode mode = round % 5 == 4 ? ModelMode::kEvaluate : ModelMode::kTrain;
    SCOPED_TRACE("round " + std::to_string(round));
    expect_alike(run(model, batch, key, mode),
                 run(model, packed(batch, any(0, 5), any(0, 9)), key, mode), model);
  }
}

TEST(PackedRowsTest, PadAndJoinAreInverse) {
  const PackedRows rows = pack_rows(at::tensor({3, 0, 5, 1}, at::kLong), 11, 5);
  const at::Tensor values = random_values({11, 2}, 9);
  const at::Tensor padded = pad_rows(values, rows);
  EXPECT_TRUE(at::equal(padded[0].slice(0, 0, 3), values.slice(0, 0, 3)));
  EXPECT_TRUE(at::equal(padded[2], values.slice(0, 3, 8)));
  EXPECT_EQ(padded[1].abs().sum().item<float>(), 0);
  const at::Tensor back = join_rows(padded, rows);
  EXPECT_TRUE(at::equal(back.slice(0, 0, 9), values.slice(0, 0, 9)));
  EXPECT_EQ(back.slice(0, 9).abs().sum().item<float>(), 0);
  EXPECT_TRUE(at::equal(rows.row_of, at::tensor({0, 0, 0, 2, 2, 2, 2, 2, 3, 4, 4}, at::kInt)));
}

}  // namespace
}  // namespace stoker::train
