// The kernels of an update against the same update in operators of libtorch on the CPU.
#include "stoker/train/loop/device/update_flat.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "stoker/base/philox.h"
#include "stoker/cuda/pinned_buffer.h"
#include "stoker/train/loop/flat_update.h"
#include "stoker/train/model/layers.h"
#include "tests/doubles/gpu_present.h"

namespace stoker::train {
namespace {

constexpr double kRate = 3e-3;
constexpr double kFrames = 640;

class DeviceTensorTest : public cuda::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && !at::hasCUDA()) GTEST_SKIP() << "a libtorch for the CPU alone";
  }
  at::Device gpu_{at::kCUDA, 0};
};

std::vector<NamedTensor> small_parameters() {
  std::vector<NamedTensor> parameters;
  KeyedDraws draws({5, "test/parameters"});
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{70, 111}, {64}, {3, 1, 5}}) {
    const at::Tensor values = at::empty(shape, at::kFloat);
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      values.data_ptr<float>()[i] = static_cast<float>(draws.next_unit() - 0.5);
    }
    parameters.push_back(
        {"part" + std::to_string(parameters.size()), values, std::make_shared<at::Tensor>()});
  }
  return parameters;
}

void fill_gradients(const FlatUpdate& update, std::uint64_t step, double size) {
  KeyedDraws draws({9, "test/gradient", 0, step});
  const at::Tensor values = at::empty(update.flat_gradients().sizes(), at::kFloat);
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    values.data_ptr<float>()[i] = static_cast<float>((draws.next_unit() - 0.5) * size * kFrames);
  }
  update.flat_gradients().copy_(values);
}

// One update by kernels; a ledger whose sums say `frames` and a loss of 1 each.
struct KernelUpdate {
  at::Tensor ledger, scratch;
  cuda::PinnedBuffer figures{sizeof(DeviceFigures)};
  LossScale scale{};

  explicit KernelUpdate(at::Device device)
      : ledger(at::zeros({sizeof(StepLedger)}, at::device(device).dtype(at::kByte))),
        scratch(at::zeros({static_cast<std::int64_t>(update_scratch_bytes())},
                          at::device(device).dtype(at::kByte))) {}

  DeviceFigures apply(const FlatUpdate& update, const UpdateRule& rule, double frames = kFrames,
                      double loss = 1) {
    StepLedger start{};
    for (double& sum : start.sums) sum = loss * frames;
    start.sums[kNumLosses] = frames;
    ledger.copy_(at::from_blob(&start, {sizeof(StepLedger)}, at::kByte));
    const cuda::StreamView stream = current_stream(ledger.device());
    update_flat({.flat = update.buffers(),
                 .rule = {rule.is_decoupled, kRate, rule.beta1, rule.beta2, rule.epsilon,
                          rule.weight_decay, rule.clip_norm, rule.ema_decay},
                 .scale = scale,
                 .ledger = static_cast<StepLedger*>(ledger.mutable_data_ptr()),
                 .scratch = scratch.mutable_data_ptr()},
                figures.as<DeviceFigures>(), stream);
    cuda::system_device_api().synchronize(stream.handle());
    return *figures.as<DeviceFigures>();
  }
};

double largest_difference(const TensorSet& one, const TensorSet& two) {
  double largest = 0;
  for (std::size_t i = 0; i < one.tensors.size(); ++i) {
    const auto& a = one.tensors[i].values;
    const auto& b = two.tensors[i].values;
    for (std::size_t at = 0; at + sizeof(float) <= a.size(); at += sizeof(float)) {
      float x = 0, y = 0;
      std::memcpy(&x, a.data() + at, sizeof(float));
      std::memcpy(&y, b.data() + at, sizeof(float));
      largest = std::max(largest, std::abs(static_cast<double>(x) - y));
    }
  }
  return largest;
}

TEST_F(DeviceTensorTest, TwentyUpdatesEqualThoseOfTheCpu) {
  for (const UpdateRule& rule :
       {UpdateRule{.weight_decay = 0.1, .clip_norm = 0.5}, UpdateRule{.clip_norm = 0},
        UpdateRule{.is_decoupled = false, .weight_decay = 0.1},
        UpdateRule{.beta2 = 0.99, .ema_decay = 0.3}}) {
    FlatUpdate here(small_parameters(), rule, at::kCPU);
    FlatUpdate there(small_parameters(), rule, gpu_, at::kBFloat16);
    KernelUpdate kernels(gpu_);
    for (std::uint64_t step = 0; step < 20; ++step) {
      fill_gradients(here, step, 1.0);
      fill_gradients(there, step, 1.0);
      const FlatUpdate::Outcome outcome =
          here.apply({at::scalar_tensor(kFrames), at::scalar_tensor(1.0)}, kRate);
      const DeviceFigures figures = kernels.apply(there, rule);
      const double norm = outcome.gradient_norm.item<double>();
      EXPECT_NEAR(figures.gradient_norm, norm, 1e-5 * norm);
      EXPECT_EQ(figures.is_skipped, 0);
      EXPECT_NEAR(figures.losses[1], 1.0, 1e-12);
      EXPECT_GT(figures.ended_ns, figures.began_ns);
    }
    EXPECT_LT(largest_difference(there.copy_parameters(), here.copy_parameters()), 2e-6);
    EXPECT_LT(largest_difference(there.copy_average(), here.copy_average()), 2e-6);
    EXPECT_LT(largest_difference(there.copy_optimizer(), here.copy_optimizer()), 2e-6);
    EXPECT_TRUE(there.flat_gradients().eq(0).all().item<bool>());
  }
}

TEST_F(DeviceTensorTest, ShadowsAreTheParametersRounded) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    const std::vector<NamedTensor> parameters = small_parameters();
    FlatUpdate update(parameters, {}, gpu_, type);
    KernelUpdate kernels(gpu_);
    fill_gradients(update, 0, 1.0);
    kernels.apply(update, {});
    for (const NamedTensor& parameter : parameters) {
      EXPECT_TRUE(parameter.shadow->equal(parameter.tensor.to(type))) << parameter.name;
    }
    update.restore({update.copy_average(), {}, {}});
    for (const NamedTensor& parameter : parameters) {
      EXPECT_TRUE(parameter.shadow->equal(parameter.tensor.to(type))) << parameter.name;
    }
  }
}

TEST_F(DeviceTensorTest, WhatIsNotFiniteOrEmptyMovesNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  FlatUpdate update(small_parameters(), {}, gpu_);
  KernelUpdate kernels(gpu_);
  fill_gradients(update, 0, 1.0);
  kernels.apply(update, {});
  const auto whole = [&] {
    return std::tuple(update.copy_parameters(), update.copy_average(), update.copy_optimizer());
  };
  const auto before = whole();
  fill_gradients(update, 1, 1.0);
  update.flat_gradients()[3].fill_(nan);
  EXPECT_EQ(kernels.apply(update, {}).is_skipped, 1);
  fill_gradients(update, 1, 1.0);
  EXPECT_EQ(kernels.apply(update, {}, kFrames, nan).is_skipped, 1);
  EXPECT_EQ(kernels.apply(update, {}, 0, 0).is_skipped, 0);
  EXPECT_EQ(whole(), before);
  EXPECT_TRUE(update.flat_gradients().eq(0).all().item<bool>());
}

TEST_F(DeviceTensorTest, TheLossScaleFallsAndGrows) {
  FlatUpdate update(small_parameters(), {}, gpu_);
  KernelUpdate kernels(gpu_);
  const at::Tensor scale = at::full({}, 4.0, at::device(gpu_).dtype(at::kFloat));
  const at::Tensor age = at::zeros({}, at::device(gpu_).dtype(at::kInt));
  kernels.scale = {scale.data_ptr<float>(), age.data_ptr<std::int32_t>(), 3};
  const std::vector<std::pair<double, double>> steps{{1, 4},        {1, 4}, {1, 8}, {1, 8},
                                                     {INFINITY, 4}, {1, 4}, {1, 4}, {1, 8}};
  for (const auto& [value, expected] : steps) {
    update.flat_gradients().fill_(value);
    kernels.apply(update, {});
    EXPECT_EQ(scale.item<double>(), expected);
  }
}

}  // namespace
}  // namespace stoker::train
