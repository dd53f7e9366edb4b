// The learner as the loop uses it: it learns, repeats itself bit for bit, survives bad batches.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "stoker/train/errors.h"
#include "stoker/train/loop/learner.h"
#include "tests/train/doubles/made_speech.h"

namespace stoker::train {
namespace {

constexpr double kRate = 2e-3;

// Losses of a number of updates with one batch each, numbered from `first`.
std::vector<double> train(Learner& learner, feed::Feed& feed, int num_updates,
                          std::uint64_t first = 0) {
  for (int i = 0; i < num_updates; ++i) {
    learner.add_batch(next_batch(feed), first + static_cast<std::uint64_t>(i));
    learner.update(kRate);
  }
  std::vector<double> losses;
  for (const UpdateFigures& figures : learner.take_figures(Learner::Wait::kWait)) {
    EXPECT_FALSE(figures.is_skipped);
    EXPECT_GT(figures.compute_s, 0);
    EXPECT_GT(figures.gradient_norm, 0);
    losses.push_back(figures.losses.total());
  }
  EXPECT_EQ(losses.size(), static_cast<std::size_t>(num_updates));
  return losses;
}

std::vector<double> losses_of(const LearnerOptions& options, const MadeFeed& made,
                              int num_updates) {
  feed::Feed feed = made.open();
  const std::unique_ptr<Learner> learner = make_learner(options);
  return train(*learner, feed, num_updates);
}

std::vector<float> floats_of(const TensorSet& set, std::string_view prefix = "") {
  std::vector<float> all;
  for (const StoredTensor& tensor : set.tensors) {
    if (!tensor.name.starts_with(prefix)) continue;
    const std::size_t begin = all.size();
    all.resize(begin + tensor.values.size() / sizeof(float));
    std::memcpy(all.data() + begin, tensor.values.data(), tensor.values.size());
  }
  return all;
}

TEST(TorchLearnerTest, Learns) {
  const std::vector<double> losses = losses_of(small_learner(), {}, 120);
  double first = 0, last = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    first += losses[i];
    last += losses[losses.size() - 1 - i];
  }
  EXPECT_LT(last, 0.6 * first);
}

TEST(TorchLearnerTest, TwoLearnersGiveTheSameLossesBitForBit) {
  EXPECT_EQ(losses_of(small_learner(), {}, 12), losses_of(small_learner(), {}, 12));
  LearnerOptions two_threads = small_learner();
  two_threads.num_threads = 2;
  EXPECT_EQ(losses_of(two_threads, {}, 2), losses_of(two_threads, {}, 2));
  EXPECT_EQ(at::get_num_threads(), 2);
  LearnerOptions other_seed = small_learner();
  other_seed.seed = 12;
  EXPECT_NE(losses_of(other_seed, {}, 12), losses_of(small_learner(), {}, 12));
}

TEST(TorchLearnerTest, ARestoredStateGoesOnBitForBit) {
  for (const config::Precision precision : {config::Precision::kFp32, config::Precision::kFp16}) {
    LearnerOptions options = small_learner();
    options.precision = precision;
    feed::Feed feed = MadeFeed{}.open();
    const std::unique_ptr<Learner> learner = make_learner(options);
    train(*learner, feed, 5);
    const LearnerState state = learner->state();
    const std::string place = feed.state();
    const std::vector<double> expected = train(*learner, feed, 10, 5);

    const std::unique_ptr<Learner> other = make_learner(options);
    feed::Feed again = MadeFeed{}.open();
    train(*other, again, 2, 77);
    other->restore(state);
    again.restore(place);
    EXPECT_EQ(other->state().optimizer, state.optimizer);
    other->add_batch(next_batch(again), 5);
    other->update(kRate);
    const std::vector<UpdateFigures> sixth = other->take_figures(Learner::Wait::kWait);
    ASSERT_EQ(sixth.size(), 1U);
    EXPECT_EQ(sixth[0].update, 6U);
    EXPECT_EQ(sixth[0].losses.total(), expected[0]);
    const std::vector<double> rest = train(*other, again, 9, 6);
    EXPECT_EQ(rest, std::vector<double>(expected.begin() + 1, expected.end()));
    EXPECT_EQ(other->state().model, learner->state().model);
    EXPECT_EQ(other->state().ema, learner->state().ema);
  }
}

// The first moment after one update that is not clipped is a tenth of the gradient.
struct FirstUpdate {
  LossFigures losses;
  std::vector<float> gradient;
};
FirstUpdate first_update(const std::vector<int>& batches) {
  LearnerOptions options = small_learner();
  options.rule.clip_norm = 0;
  const std::unique_ptr<Learner> learner = make_learner(options);
  for (const int wanted : batches) {
    feed::Feed feed = MadeFeed{}.open();
    for (int i = 0; i < wanted; ++i) next_batch(feed);
    learner->add_batch(next_batch(feed), static_cast<std::uint64_t>(wanted));
  }
  learner->update(kRate);
  return {learner->take_figures(Learner::Wait::kWait).at(0).losses,
          floats_of(learner->state().optimizer, "m.")};
}

TEST(TorchLearnerTest, BatchesThatAreAddedUpWeighAsMuchAsTheirFrames) {
  const FirstUpdate one = first_update({0});
  const FirstUpdate twice = first_update({0, 0});
  const FirstUpdate other = first_update({1});
  const FirstUpdate both = first_update({0, 1});
  EXPECT_NEAR(twice.losses.total(), one.losses.total(), 1e-6);
  const double share =
      (both.losses.flow - other.losses.flow) / (one.losses.flow - other.losses.flow);
  EXPECT_GT(share, 0.1);
  EXPECT_LT(share, 0.9);
  EXPECT_NEAR(both.losses.prior, share * one.losses.prior + (1 - share) * other.losses.prior, 1e-5);
  double largest = 0;
  for (std::size_t i = 0; i < one.gradient.size(); ++i) {
    ASSERT_NEAR(twice.gradient[i], one.gradient[i], 1e-6);
    const double expected = share * one.gradient[i] + (1 - share) * other.gradient[i];
    ASSERT_NEAR(both.gradient[i], expected, 1e-5);
    largest = std::max<double>(largest, std::abs(one.gradient[i]));
  }
  EXPECT_GT(largest, 1e-3);
}

TEST(TorchLearnerTest, HalfPrecisionMelsGiveTheSameLosses) {
  const std::vector<double> f32 = losses_of(small_learner(), {}, 5);
  EXPECT_EQ(losses_of(small_learner(), {.dtype = config::MelDtype::kF16}, 5), f32);
  const std::vector<double> bf16 =
      losses_of(small_learner(), {.dtype = config::MelDtype::kBf16}, 5);
  for (std::size_t i = 0; i < f32.size(); ++i) EXPECT_NEAR(bf16[i], f32[i], 0.02 * f32[i]);
}

TEST(TorchLearnerTest, EmptyRowsHaveNoPartInTheLoss) {
  const std::vector<double> losses = losses_of(small_learner(), {.faults = {.bad = {1, 4}}}, 8);
  for (const double loss : losses) EXPECT_TRUE(std::isfinite(loss));
}

TEST(TorchLearnerTest, ABatchOfEmptyRowsAloneChangesNothingAndIsNoFault) {
  feed::Feed empty = MadeFeed{.num_utterances = 4, .faults = {.bad = {0, 1, 2, 3}}}.open();
  feed::Feed feed = MadeFeed{}.open();
  const std::unique_ptr<Learner> learner = make_learner(small_learner());
  train(*learner, feed, 2);
  const LearnerState before = learner->state();
  learner->add_batch(next_batch(empty), 2);
  learner->update(kRate);
  const UpdateFigures figures = learner->take_figures(Learner::Wait::kWait).at(0);
  EXPECT_FALSE(figures.is_skipped);
  EXPECT_EQ(figures.losses.total(), 0);
  EXPECT_EQ(learner->state().model, before.model);
  EXPECT_EQ(learner->state().ema, before.ema);
  EXPECT_EQ(learner->evaluate(next_batch(empty), 0).num_frames, 0);
  EXPECT_TRUE(learner->align(next_batch(empty)).empty());
  EXPECT_EQ(learner->picture(next_batch(empty)).num_frames, 0);

  // Beside a batch with speech it weighs nothing.
  feed::Feed again = MadeFeed{}.open();
  feed::Feed again_too = MadeFeed{}.open();
  const std::unique_ptr<Learner> with = make_learner(small_learner());
  const std::unique_ptr<Learner> without = make_learner(small_learner());
  with->add_batch(next_batch(empty), 7);
  with->add_batch(next_batch(again), 0);
  without->add_batch(next_batch(again_too), 0);
  with->update(kRate);
  without->update(kRate);
  EXPECT_EQ(with->state().model, without->state().model);
}

TEST(TorchLearnerTest, AMelThatIsNotFiniteSkipsTheUpdateAndSaysSo) {
  feed::Feed bad =
      MadeFeed{.num_utterances = 6, .faults = {.not_finite = {0, 1, 2, 3, 4, 5}}}.open();
  for (const config::Precision precision :
       {config::Precision::kFp32, config::Precision::kBf16, config::Precision::kFp16}) {
    LearnerOptions options = small_learner();
    options.precision = precision;
    feed::Feed feed = MadeFeed{}.open();
    const std::unique_ptr<Learner> learner = make_learner(options);
    train(*learner, feed, 2);
    const LearnerState before = learner->state();
    learner->add_batch(next_batch(bad), 2);
    learner->add_batch(next_batch(feed), 3);
    learner->update(kRate);
    const UpdateFigures figures = learner->take_figures(Learner::Wait::kWait).at(0);
    EXPECT_TRUE(figures.is_skipped);
    EXPECT_EQ(figures.update, 3U);
    EXPECT_EQ(learner->state().model, before.model);
    EXPECT_EQ(learner->state().ema, before.ema);
    EXPECT_EQ(floats_of(learner->state().optimizer, "m."), floats_of(before.optimizer, "m."));
    train(*learner, feed, 2, 4);
  }
}

TEST(TorchLearnerTest, LowerPrecisionStaysNear) {
  const std::vector<double> exact = losses_of(small_learner(), {}, 6);
  for (const auto& [precision, tolerance] :
       {std::pair(config::Precision::kTf32, 1e-9), std::pair(config::Precision::kBf16, 0.03),
        std::pair(config::Precision::kFp16, 0.01)}) {
    LearnerOptions options = small_learner();
    options.precision = precision;
    const std::vector<double> losses = losses_of(options, {}, 6);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(losses[i], exact[i], tolerance * exact[i]);
    }
  }
}

TEST(TorchLearnerTest, ErrorsOfLibtorchAreQuoted) {
  const auto code_of = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const Failure& failure) {
      EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos);
      return std::string(failure.error().code->name);
    }
    return "none";
  };
  LearnerOptions huge = small_learner();
  huge.shape.num_tokens = std::int64_t{1} << 42;
  EXPECT_EQ(code_of([&] { make_learner(huge); }), "E-TRAIN-MEMORY");
  LearnerOptions few = small_learner();
  few.shape.num_tokens = 3;
  const std::unique_ptr<Learner> learner = make_learner(few);
  feed::Feed feed = MadeFeed{}.open();
  EXPECT_EQ(code_of([&] { learner->add_batch(next_batch(feed), 0); }), "E-TRAIN-FAILED");
  if (!at::hasCUDA()) {
    LearnerOptions on_gpu = small_learner();
    on_gpu.device = Device::cuda(0);
    EXPECT_EQ(code_of([&] { make_learner(on_gpu); }), "E-CUDA-NONE");
  }
  EXPECT_EQ(torch_version().substr(0, 2), "2.");
}

}  // namespace
}  // namespace stoker::train
