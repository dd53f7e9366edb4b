// What the learner does besides learning: it evaluates and speaks with the averaged weights, aligns
// and draws pictures with the current ones.
#include <gtest/gtest.h>

#include <cmath>

#include "stoker/train/errors.h"
#include "stoker/train/loop/learner.h"
#include "tests/train/doubles/made_speech.h"

namespace stoker::train {
namespace {

constexpr double kRate = 2e-3;

feed::Batch first_batch() {
  feed::Feed feed = MadeFeed{}.open();
  return next_batch(feed);
}

class SpeakingTest : public testing::Test {
 protected:
  SpeakingTest() {
    feed::Feed feed = MadeFeed{}.open();
    for (std::uint64_t i = 0; i < 20; ++i) {
      learner_->add_batch(next_batch(feed), i);
      learner_->update(kRate);
    }
  }

  static Learner::SpeakRequest request() {
    const MadeSpeech speech(4);
    Learner::SpeakRequest request;
    request.num_steps = 4;
    request.seed = 5;
    for (std::uint32_t row = 0; row < 3; ++row) request.tokens.push_back(speech.text(row));
    request.references.emplace_back(std::size_t{9} * MadeSpeech::kMels, -3.5F);
    return request;
  }
  std::string refusal(const Learner::SpeakRequest& request) {
    try {
      learner_->speak(request);
    } catch (const Failure& failure) {
      return std::string(failure.error().code->name);
    }
    return "none";
  }

  std::unique_ptr<Learner> learner_ = make_learner(small_learner());
};

TEST_F(SpeakingTest, EvaluationRepeatsItselfAndLeavesTheWeightsAlone) {
  const LearnerState before = learner_->state();
  const Learner::Evaluation first = learner_->evaluate(first_batch(), 3);
  const Learner::Evaluation again = learner_->evaluate(first_batch(), 3);
  EXPECT_GT(first.num_frames, 0);
  EXPECT_GT(first.losses.flow, 0);
  EXPECT_EQ(first.losses.total(), again.losses.total());
  EXPECT_NE(first.losses.flow, learner_->evaluate(first_batch(), 4).losses.flow);
  EXPECT_EQ(learner_->state().model, before.model);
  EXPECT_EQ(learner_->state().ema, before.ema);
  EXPECT_EQ(learner_->state().optimizer, before.optimizer);
}

TEST_F(SpeakingTest, EvaluationAlignmentAndSpeechUseTheAverage) {
  const LearnerState state = learner_->state();
  ASSERT_NE(state.ema, state.model);
  const double averaged = learner_->evaluate(first_batch(), 0).losses.total();
  const std::vector<float> spoken = learner_->speak(request()).at(0).mel;
  const std::unique_ptr<Learner> other = make_learner(small_learner());
  other->restore({.model = state.ema, .ema = {}, .optimizer = {}});
  EXPECT_EQ(other->evaluate(first_batch(), 0).losses.total(), averaged);
  EXPECT_EQ(other->speak(request()).at(0).mel, spoken);
  const auto tokens_of = [](Learner& learner) {
    return learner.align(first_batch()).at(0).token_of_frame;
  };
  EXPECT_EQ(tokens_of(*other), tokens_of(*learner_));
  EXPECT_EQ(other->picture(first_batch()).predicted, learner_->picture(first_batch()).predicted);
  other->restore({.model = state.model, .ema = {}, .optimizer = {}});
  EXPECT_NE(other->evaluate(first_batch(), 0).losses.total(), averaged);
  EXPECT_NE(other->picture(first_batch()).predicted, learner_->picture(first_batch()).predicted);
}

TEST_F(SpeakingTest, EvaluationBetweenBatchesOfAnUpdateChangesNothing) {
  const auto update = [](Learner& learner, bool is_disturbed) {
    learner.add_batch(first_batch(), 50);
    if (is_disturbed) {
      learner.evaluate(first_batch(), 0);
      learner.align(first_batch());
      learner.speak(request());
    }
    learner.add_batch(first_batch(), 51);
    learner.update(kRate);
    return learner.state().model;
  };
  const LearnerState state = learner_->state();
  const TensorSet expected = update(*learner_, false);
  learner_->restore(state);
  EXPECT_EQ(update(*learner_, true), expected);
}

TEST_F(SpeakingTest, AlignmentsAreMonotoneAndNameTheirUtterances) {
  const MadeSpeech speech(MadeFeed{}.num_utterances);
  const std::vector<RowAlignment> rows = learner_->align(first_batch());
  ASSERT_FALSE(rows.empty());
  for (const RowAlignment& row : rows) {
    const auto utterance = static_cast<std::uint32_t>(std::stoul(row.id.substr(3)));
    ASSERT_EQ(row.token_of_frame.size(), speech.num_frames(utterance));
    EXPECT_EQ(row.token_of_frame.front(), 0);
    EXPECT_EQ(row.token_of_frame.back(),
              static_cast<std::int32_t>(speech.text(utterance).size()) + 1);
    for (std::size_t i = 1; i < row.token_of_frame.size(); ++i) {
      const std::int32_t steps = row.token_of_frame[i] - row.token_of_frame[i - 1];
      EXPECT_TRUE(steps == 0 || steps == 1);
    }
  }
}

TEST_F(SpeakingTest, APictureShowsTheFirstRowThatIsNotEmpty) {
  feed::Feed feed = MadeFeed{.faults = {.bad = {1, 4, 9}}}.open();
  feed::Batch batch = next_batch(feed);
  std::size_t first = 0;
  while (batch.mel_len()[first] == 0) ++first;
  const std::string id(batch.id(first));
  const PictureRow row = learner_->picture(std::move(batch));
  EXPECT_EQ(row.id, id);
  const MadeSpeech speech(MadeFeed{}.num_utterances);
  const auto utterance = static_cast<std::uint32_t>(std::stoul(id.substr(3)));
  ASSERT_EQ(row.num_frames, speech.num_frames(utterance));
  EXPECT_EQ(row.num_tokens, static_cast<std::int64_t>(speech.text(utterance).size()) + 2);
  ASSERT_EQ(row.mel.size(), static_cast<std::size_t>(row.num_frames) * MadeSpeech::kMels);
  ASSERT_EQ(row.predicted.size(), row.mel.size());
  EXPECT_EQ(row.token_of_frame.size(), static_cast<std::size_t>(row.num_frames));
  double difference = 0;
  for (std::size_t i = 0; i < row.mel.size(); ++i) {
    const auto frame = static_cast<std::uint32_t>(i / MadeSpeech::kMels);
    const auto band = static_cast<std::uint32_t>(i % MadeSpeech::kMels);
    ASSERT_NEAR(row.mel[i], speech.mel(utterance, frame, band), 1e-5);
    difference += std::abs(row.predicted[i] - row.mel[i]) / static_cast<double>(row.mel.size());
  }
  EXPECT_LT(difference, 3.0) << "the prediction is not on the scale of the mel";
}

TEST_F(SpeakingTest, SeveralTextsAreSpokenEachWithItsLength) {
  const std::vector<Learner::SpokenMel> spoken = learner_->speak(request());
  ASSERT_EQ(spoken.size(), 3U);
  for (std::size_t i = 0; i < spoken.size(); ++i) {
    const Learner::SpokenMel& row = spoken[i];
    EXPECT_GE(row.num_frames, static_cast<std::int64_t>(request().tokens[i].size()) + 2);
    EXPECT_EQ(row.mel.size(), static_cast<std::size_t>(row.num_frames) * MadeSpeech::kMels);
    EXPECT_EQ(row.token_of_frame.size(), static_cast<std::size_t>(row.num_frames));
    double mean = 0;
    for (const float value : row.mel) mean += value / static_cast<double>(row.mel.size());
    EXPECT_NEAR(mean, -4.0, 3.0) << "not a log-mel of the data's scale";
  }
  EXPECT_EQ(learner_->speak(request()).at(1).mel, spoken[1].mel);
  Learner::SpeakRequest each = request();
  each.references.assign(3, each.references[0]);
  EXPECT_EQ(learner_->speak(each).at(1).mel, spoken[1].mel);
  each.references[1].assign(std::size_t{40} * MadeSpeech::kMels, -6.0F);
  EXPECT_NE(learner_->speak(each).at(1).mel, spoken[1].mel);
  Learner::SpeakRequest slow = request();
  slow.speed = 0.25;
  EXPECT_GT(learner_->speak(slow).at(0).num_frames, spoken[0].num_frames);
}

TEST_F(SpeakingTest, MoreTextsThanOneBatchHoldsAreAllSpoken) {
  Learner::SpeakRequest many = request();
  while (many.tokens.size() < 19) many.tokens.push_back(many.tokens[many.tokens.size() % 3]);
  const std::vector<Learner::SpokenMel> spoken = learner_->speak(many);
  ASSERT_EQ(spoken.size(), 19U);
  EXPECT_EQ(spoken[18].num_frames, spoken[0].num_frames) << "the same text";
}

TEST_F(SpeakingTest, RequestsThatCannotBeSpokenAreRefused) {
  Learner::SpeakRequest no_text = request(), unknown = request(), two = request(), odd = request(),
                        none = request();
  no_text.tokens[1].clear();
  unknown.tokens[0].push_back(MadeSpeech::kTokens);
  two.references.push_back(two.references[0]);
  odd.references[0].pop_back();
  none.references[0].clear();
  EXPECT_EQ(refusal(no_text), "E-SPEAK-TEXT");
  EXPECT_EQ(refusal(unknown), "E-SPEAK-VOCABULARY");
  EXPECT_EQ(refusal(two), "E-SPEAK-REFERENCE");
  EXPECT_EQ(refusal(odd), "E-SPEAK-REFERENCE");
  EXPECT_EQ(refusal(none), "E-SPEAK-REFERENCE");
  EXPECT_EQ(refusal(request()), "none");
}

}  // namespace
}  // namespace stoker::train
