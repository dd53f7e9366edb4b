// Products and attentions on a GPU against their plain twins in fp32, values and gradients.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "stoker/train/model/packed/fused_ops.h"
#include "stoker/train/model/packed/plain_ops.h"
#include "tests/doubles/gpu_present.h"

namespace stoker::train {
namespace {

constexpr std::int64_t kSlack = 5;  // places behind the last row

struct TypeCase {
  at::ScalarType type;
  double tolerance;  // of the root mean square of a difference, relative
};

class FusedProductsDeviceTest : public cuda::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && !at::hasCUDA()) GTEST_SKIP() << "a libtorch for the CPU alone";
    at::manual_seed(3);
  }

  static at::Tensor random(at::IntArrayRef sizes) {
    return at::randn(sizes, at::device(at::kCPU).dtype(at::kFloat)).to(at::kCUDA);
  }
  // A parameter as the learner makes it: its gradient is there, its shadow in a shorter type.
  static Parameter parameter(at::IntArrayRef sizes, at::ScalarType type) {
    Parameter made{random(sizes).mul_(0.1).to(type).to(at::kFloat).requires_grad_(true),
                   std::make_shared<at::Tensor>()};
    made.leaf.mutable_grad() = at::zeros(sizes, made.leaf.detach().options());
    if (type != at::kFloat) *made.shadow = made.leaf.detach().to(type);
    return made;
  }
  static PackedRows rows_of(std::vector<std::int64_t> lengths) {
    const at::Tensor on_gpu = at::tensor(lengths, at::kLong).to(at::kCUDA);
    const std::int64_t sum = on_gpu.sum().item<std::int64_t>();
    return pack_rows(on_gpu, sum + kSlack, on_gpu.max().item<std::int64_t>());
  }
  static at::Tensor only_rows(const at::Tensor& values, const PackedRows& rows) {
    return values.masked_fill(is_within(rows).logical_not().unsqueeze(1), 0);
  }
  static void expect_near(const at::Tensor& found, const at::Tensor& wanted, double tolerance,
                          const char* what) {
    const double error = (found.to(at::kFloat) - wanted).norm().item<double>();
    const double size = wanted.norm().item<double>();
    EXPECT_LE(error, tolerance * size + 1e-6) << what << " of " << size;
  }

  using Made = std::function<at::Tensor(const at::Tensor& values)>;
  // Result and gradient of the values for a fixed gradient of the result.
  static std::vector<at::Tensor> run(const Made& make, const at::Tensor& values,
                                     const at::Tensor& gradient) {
    const at::Tensor leaf = values.detach().clone().requires_grad_(true);
    const at::Tensor out = make(leaf * 1);
    out.backward(gradient.to(out.scalar_type()));
    return {out.detach(), leaf.grad().to(at::kFloat)};
  }
};

constexpr TypeCase kTypes[] = {{at::kFloat, 2e-3}, {at::kHalf, 4e-3}, {at::kBFloat16, 1.5e-2}};

TEST_F(FusedProductsDeviceTest, ProductsAddGradientsToTheirBuffers) {
  for (const TypeCase& each : kTypes) {
    for (const bool is_gelu : {false, true}) {
      const std::int64_t num_out = is_gelu ? 96 : each.type == at::kHalf ? 1 : 104;
      SCOPED_TRACE(std::string(at::toString(each.type)) + (is_gelu ? " gelu" : ""));
      const Parameter weight = parameter({num_out, 40}, each.type);
      const Parameter bias = parameter({num_out}, each.type);
      const at::Tensor values = random({133, 40}).to(each.type).to(at::kFloat);
      const at::Tensor gradient = random({133, num_out}).to(each.type).to(at::kFloat);
      const auto fused_op = [&](const at::Tensor& given) {
        return is_gelu ? fused::linear_gelu(given.to(each.type), weight, bias)
                       : fused::linear(given.to(each.type), weight, bias);
      };
      const std::vector<at::Tensor> found = run(fused_op, values, gradient);
      const at::Tensor weight_gradient = weight.leaf.grad().clone();
      const at::Tensor bias_gradient = bias.leaf.grad().clone();
      weight.leaf.mutable_grad().zero_();
      bias.leaf.mutable_grad().zero_();
      const auto plain_op = [&](const at::Tensor& given) {
        return is_gelu ? plain::linear_gelu(given, weight, bias)
                       : plain::linear(given, weight, bias);
      };
      const std::vector<at::Tensor> wanted = run(plain_op, values, gradient);
      expect_near(found[0], wanted[0], each.tolerance, "values");
      expect_near(found[1], wanted[1], each.tolerance, "gradient");
      expect_near(weight_gradient, weight.leaf.grad(), each.tolerance, "weight");
      expect_near(bias_gradient, bias.leaf.grad(), each.tolerance, "bias");
    }
  }
}

TEST_F(FusedProductsDeviceTest, FeedForwardGoesThroughBothLayers) {
  for (const TypeCase& each : kTypes) {
    SCOPED_TRACE(at::toString(each.type));
    ParameterSet set(5);
    const Linear up(set, "up", {40, 160});
    const Linear down(set, "down", {160, 40});
    for (const NamedTensor& one : set.all()) {
      one.tensor.set_data(one.tensor.detach().to(at::kCUDA).to(each.type).to(at::kFloat));
      one.tensor.mutable_grad() = at::zeros_like(one.tensor.detach());
      if (each.type != at::kFloat) *one.shadow = one.tensor.detach().to(each.type);
    }
    const at::Tensor values = random({133, 40}).to(each.type).to(at::kFloat);
    const at::Tensor gradient = random({133, 40}).to(each.type).to(at::kFloat);
    const std::vector<at::Tensor> found = run(
        [&](const at::Tensor& given) { return fused::feed_forward(given.to(each.type), up, down); },
        values, gradient);
    std::vector<at::Tensor> gradients;
    for (const NamedTensor& one : set.all()) {
      gradients.push_back(one.tensor.grad().clone());
      one.tensor.mutable_grad().zero_();
    }
    const std::vector<at::Tensor> wanted = run(
        [&](const at::Tensor& given) {
          return plain::linear(plain::linear_gelu(given, up.weight(), up.bias()), down.weight(),
                               down.bias());
        },
        values, gradient);
    expect_near(found[0], wanted[0], each.tolerance, "values");
    expect_near(found[1], wanted[1], each.tolerance, "gradient");
    for (std::size_t i = 0; i < gradients.size(); ++i)
      expect_near(gradients[i], set.all()[i].tensor.grad(), each.tolerance,
                  set.all()[i].name.c_str());
  }
}

TEST_F(FusedProductsDeviceTest, FloatResultsKeepTheirBits) {
  const Parameter weight = parameter({16, 32}, at::kBFloat16);
  const Parameter bias = parameter({16}, at::kBFloat16);
  const at::Tensor values = random({9, 32}).to(at::kBFloat16);
  const at::Tensor out = fused::linear(values, weight, bias, fused::Result::kFloat);
  EXPECT_EQ(out.scalar_type(), at::kFloat);
  expect_near(out, plain::linear(values, weight, bias), 1e-4, "values");
}

TEST_F(FusedProductsDeviceTest, AttentionStaysWithinRows) {
  const PackedRows rows = rows_of({7, 0, 130, 1, 64});
  for (const std::int64_t width : {40, 48, 64, 72}) {
    for (const TypeCase& each : kTypes) {
      SCOPED_TRACE(std::string(at::toString(each.type)) + " " + std::to_string(width));
      constexpr std::int64_t kHeads = 3;
      at::Tensor values =
          random({rows.num_places(), 3 * kHeads * width}).to(each.type).to(at::kFloat);
      const at::Tensor gradient = only_rows(random({rows.num_places(), kHeads * width}), rows);
      values.slice(0, rows.num_places() - kSlack).fill_(NAN);
      const std::vector<at::Tensor> found = run(
          [&](const at::Tensor& given) {
            return fused::attention(given.to(each.type), kHeads, rows);
          },
          values, gradient);
      const std::vector<at::Tensor> wanted =
          run([&](const at::Tensor& given) { return plain::attention(given, kHeads, rows); },
              only_rows(values, rows), gradient);
      expect_near(found[0], wanted[0], each.tolerance, "values");
      expect_near(only_rows(found[1], rows), wanted[1], each.tolerance, "gradient");
      EXPECT_EQ(found[0].slice(0, rows.num_places() - kSlack).abs().sum().item<float>(), 0);
    }
  }
}

TEST_F(FusedProductsDeviceTest, QueriesLookAtTheirOwnRow) {
  const PackedRows rows = rows_of({7, 0, 130, 1});
  constexpr std::int64_t kHeads = 2;
  constexpr std::int64_t kWidth = 40;
  constexpr std::int64_t kQueries = 8;
  for (const TypeCase& each : kTypes) {
    SCOPED_TRACE(at::toString(each.type));
    const at::Tensor queries = random({4 * kQueries, kHeads * kWidth}).to(each.type).to(at::kFloat);
    const at::Tensor key_value = only_rows(random({rows.num_places(), 2 * kHeads * kWidth}), rows)
                                     .to(each.type)
                                     .to(at::kFloat);
    const at::Tensor gradient =
        random({4 * kQueries, kHeads * kWidth}).to(each.type).to(at::kFloat);
    const auto by_queries = [&](bool is_fused) {
      return run(
          [&](const at::Tensor& given) {
            return is_fused ? fused::cross_attention(given.to(each.type), key_value.to(each.type),
                                                     kHeads, rows)
                            : plain::cross_attention(given, key_value, kHeads, rows);
          },
          queries, gradient);
    };
    const auto by_values = [&](bool is_fused) {
      return run(
          [&](const at::Tensor& given) {
            return is_fused ? fused::cross_attention(queries.to(each.type), given.to(each.type),
                                                     kHeads, rows)
                            : plain::cross_attention(queries, given, kHeads, rows);
          },
          key_value, gradient);
    };
    for (std::size_t i = 0; i < 2; ++i) {
      expect_near(by_queries(true)[i], by_queries(false)[i], each.tolerance, "queries");
      expect_near(by_values(true)[i], by_values(false)[i], each.tolerance, "values");
    }
  }
}

}  // namespace
}  // namespace stoker::train
