// The optimiser over flat buffers against the same rule written out in double precision.
#include "stoker/train/loop/flat_update.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

constexpr double kFrames = 640;  // what gradients are sums over
constexpr double kRate = 3e-3;

// Adam and AdamW as their papers have them, one value after the other.
struct PlainUpdate {
  UpdateRule rule;
  std::vector<double> values, moments1, moments2, average;
  double num_updates = 0;

  PlainUpdate(const UpdateRule& rule_in, std::vector<double> start)
      : rule(rule_in),
        values(start),
        moments1(start.size()),
        moments2(start.size()),
        average(start) {}

  // Of the mean's gradient; returns its norm.
  double apply(std::vector<double> gradient) {
    double squares = 0;
    for (const double g : gradient) squares += g * g;
    const double norm = std::sqrt(squares);
    if (!std::isfinite(norm)) return norm;
    num_updates += 1;
    const double factor = rule.clip_norm > 0 ? std::max(norm / rule.clip_norm, 1.0) : 1.0;
    const double decay = std::min(rule.ema_decay, (1 + num_updates) / (10 + num_updates));
    for (std::size_t i = 0; i < values.size(); ++i) {
      double g = gradient[i] / factor;
      if (rule.is_decoupled) values[i] *= 1 - kRate * rule.weight_decay;
      if (!rule.is_decoupled) g += rule.weight_decay * values[i];
      moments1[i] = rule.beta1 * moments1[i] + (1 - rule.beta1) * g;
      moments2[i] = rule.beta2 * moments2[i] + (1 - rule.beta2) * g * g;
      const double mean = moments1[i] / (1 - std::pow(rule.beta1, num_updates));
      const double square = moments2[i] / (1 - std::pow(rule.beta2, num_updates));
      values[i] -= kRate * mean / (std::sqrt(square) + rule.epsilon);
      average[i] = decay * average[i] + (1 - decay) * values[i];
    }
    return norm;
  }
};

// Three parameters whose sizes are no multiples of the alignment.
struct SmallModel {
  std::vector<NamedTensor> parameters;

  SmallModel() {
    KeyedDraws draws({5, "test/parameters"});
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{7, 11}, {64}, {3, 1, 5}}) {
      const at::Tensor values = at::empty(shape, at::kFloat);
      for (std::int64_t i = 0; i < values.numel(); ++i) {
        values.data_ptr<float>()[i] = static_cast<float>(draws.next_unit() - 0.5);
      }
      parameters.push_back({"part" + std::to_string(parameters.size()), values});
      parameters.back().tensor.set_requires_grad(true);
    }
  }
  std::vector<double> values() const {
    std::vector<double> all;
    for (const NamedTensor& parameter : parameters) {
      const at::Tensor flat = parameter.tensor.detach().contiguous().view(-1);
      all.insert(all.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
    }
    return all;
  }
};

// A loss with a gradient that is known: the sum over parameters of c · p, c drawn by the step.
std::vector<double> add_gradient(const SmallModel& model, std::uint64_t step, double size) {
  KeyedDraws draws({9, "test/gradient", 0, step});
  std::vector<double> gradient;
  at::Tensor loss = at::zeros({}, at::kFloat);
  for (const NamedTensor& parameter : model.parameters) {
    const at::Tensor slope = at::empty(parameter.tensor.sizes(), at::kFloat);
    for (std::int64_t i = 0; i < slope.numel(); ++i) {
      slope.data_ptr<float>()[i] = static_cast<float>((draws.next_unit() - 0.5) * size);
      gradient.push_back(slope.data_ptr<float>()[i]);
    }
    loss = loss + (slope * parameter.tensor).sum();
  }
  (loss * kFrames).backward();
  return gradient;
}

FlatUpdate::Accumulated accumulated(double weight = kFrames, double loss = 1.0) {
  return {at::scalar_tensor(weight, at::kFloat), at::scalar_tensor(loss, at::kFloat)};
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 2e-5) << i;
}

std::vector<double> average_of(const FlatUpdate& update, const SmallModel& model) {
  const FlatUpdate::AverageScope scope(update);
  return model.values();
}

struct RuleCase {
  const char* name;
  UpdateRule rule;
  double size;  // of the gradient
};
void PrintTo(const RuleCase& rule, std::ostream* out) { *out << rule.name; }

class FlatUpdateRuleTest : public testing::TestWithParam<RuleCase> {};

TEST_P(FlatUpdateRuleTest, FiftyUpdatesEqualThePlainRule) {
  SmallModel model;
  PlainUpdate plain(GetParam().rule, model.values());
  FlatUpdate update(model.parameters, GetParam().rule, at::kCPU);
  EXPECT_EQ(update.num_parameters(), 7U * 11 + 64 + 15);
  for (std::uint64_t step = 0; step < 50; ++step) {
    const double norm = plain.apply(add_gradient(model, step, GetParam().size));
    const FlatUpdate::Outcome outcome = update.apply(accumulated(), kRate);
    ASSERT_NEAR(outcome.gradient_norm.item<double>(), norm, 1e-5 * norm);
    ASSERT_EQ(outcome.is_skipped.item<double>(), 0);
    expect_near(model.values(), plain.values);
    expect_near(average_of(update, model), plain.average);
  }
  EXPECT_EQ(update.copy_optimizer().find("step")->values.size(), sizeof(float));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, FlatUpdateRuleTest,
    testing::Values(RuleCase{"clipped", {.weight_decay = 0.1, .clip_norm = 0.5}, 4.0},
                    RuleCase{"below_the_clip", {.weight_decay = 0.1, .clip_norm = 100}, 4.0},
                    RuleCase{"not_clipped", {.weight_decay = 0.1, .clip_norm = 0}, 40.0},
                    RuleCase{"adam", {.is_decoupled = false, .weight_decay = 0.1}, 4.0},
                    RuleCase{"short_average", {.beta2 = 0.99, .ema_decay = 0.5}, 1.0}),
    [](const auto& given) { return given.param.name; });

TEST(FlatUpdateTest, WhatIsNotFiniteMovesNothingAndIsNotCounted) {
  const double bad[] = {std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity()};
  SmallModel model;
  FlatUpdate update(model.parameters, {}, at::kCPU);
  add_gradient(model, 0, 1.0);
  update.apply(accumulated(), kRate);
  const auto whole = [&] {
    return std::tuple(update.copy_parameters(), update.copy_average(), update.copy_optimizer());
  };
  const auto before = whole();
  for (const double value : bad) {
    add_gradient(model, 1, 1.0);
    model.parameters[1].tensor.mutable_grad()[3] = value;
    EXPECT_EQ(update.apply(accumulated(), kRate).is_skipped.item<double>(), 1);
    EXPECT_EQ(whole(), before);
    add_gradient(model, 1, 1.0);
    EXPECT_EQ(update.apply(accumulated(kFrames, value), kRate).is_skipped.item<double>(), 1);
    EXPECT_EQ(whole(), before);
  }
  EXPECT_EQ(update.apply(accumulated(0), kRate).is_skipped.item<double>(), 0)
      << "nothing is no fault";
  EXPECT_EQ(whole(), before);

  // The next good one goes on as if nothing had been.
  SmallModel other;
  FlatUpdate undisturbed(other.parameters, {}, at::kCPU);
  for (const std::uint64_t step : {0U, 2U}) {
    add_gradient(other, step, 1.0);
    undisturbed.apply(accumulated(), kRate);
  }
  add_gradient(model, 2, 1.0);
  update.apply(accumulated(), kRate);
  EXPECT_EQ(update.copy_parameters(), undisturbed.copy_parameters());
  EXPECT_EQ(update.copy_optimizer(), undisturbed.copy_optimizer());
  EXPECT_EQ(update.copy_average(), undisturbed.copy_average());
}

LearnerState state_of(const FlatUpdate& update) {
  return {update.copy_parameters(), update.copy_average(), update.copy_optimizer()};
}

TEST(FlatUpdateTest, RestoreGoesOnBitForBit) {
  SmallModel model;
  FlatUpdate update(model.parameters, {}, at::kCPU);
  for (std::uint64_t step = 0; step < 5; ++step) {
    add_gradient(model, step, 1.0);
    update.apply(accumulated(), kRate);
  }
  const LearnerState saved = state_of(update);
  add_gradient(model, 7, 1.0);
  update.apply(accumulated(), kRate);

  SmallModel other;
  FlatUpdate restored(other.parameters, {}, at::kCPU);
  add_gradient(other, 99, 1.0);  // what is left of a gradient is dropped
  restored.restore(saved);
  add_gradient(other, 7, 1.0);
  restored.apply(accumulated(), kRate);
  EXPECT_EQ(restored.copy_parameters(), update.copy_parameters());
  EXPECT_EQ(restored.copy_average(), update.copy_average());
  EXPECT_EQ(restored.copy_optimizer(), update.copy_optimizer());
}

TEST(FlatUpdateTest, WeightsAloneStartTheOptimizerAnew) {
  SmallModel model;
  FlatUpdate update(model.parameters, {}, at::kCPU);
  const TensorSet fresh = update.copy_optimizer();
  add_gradient(model, 0, 1.0);
  update.apply(accumulated(), kRate);
  const TensorSet weights = update.copy_parameters();
  update.restore({.model = weights, .ema = {}, .optimizer = {}});
  EXPECT_EQ(update.copy_parameters(), weights);
  EXPECT_EQ(update.copy_average(), weights);
  EXPECT_EQ(update.copy_optimizer(), fresh);
}

std::string refusal(FlatUpdate& update, const LearnerState& state) {
  try {
    update.restore(state);
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.error().code->name, "E-CHECKPOINT-SHAPE");
    return error.what();
  }
  return "";
}

TEST(FlatUpdateTest, AnotherModelIsRefusedAndNothingChanges) {
  SmallModel model;
  FlatUpdate update(model.parameters, {}, at::kCPU);
  const LearnerState good = state_of(update);
  LearnerState absent = good, unknown = good, shape = good, type = good, no_step = good;
  absent.model.tensors.pop_back();
  unknown.ema.tensors.push_back(good.ema.tensors[0]);
  unknown.ema.tensors.back().name = "part9";
  shape.optimizer.tensors[0].shape = {11, 7};
  type.model.tensors[1].type = TensorType::kI32;
  no_step.optimizer.tensors.pop_back();
  EXPECT_NE(refusal(update, absent).find("part2"), std::string::npos);
  EXPECT_NE(refusal(update, unknown).find("part9"), std::string::npos);
  EXPECT_NE(refusal(update, shape).find("F32 [7, 11]"), std::string::npos);
  EXPECT_NE(refusal(update, type).find("I32 [64]"), std::string::npos);
  EXPECT_NE(refusal(update, no_step).find("step"), std::string::npos);
  EXPECT_EQ(update.copy_parameters(), good.model);
  EXPECT_EQ(update.copy_optimizer(), good.optimizer);
}

}  // namespace
}  // namespace stoker::train
