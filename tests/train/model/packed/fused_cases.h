// Runs a function of the packed model twice, by its plain twin on the CPU in fp32 and by kernels on
// a GPU, and compares values and gradients.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "stoker/train/model/packed/fused_functions.h"
#include "tests/doubles/gpu_present.h"
#include "tests/train/model/model_batches.h"

namespace stoker::train {

inline at::Device gpu() { return {at::kCUDA, 0}; }

struct TypeCase {
  at::ScalarType type;
  double most_error;  // root of the mean square, as a share of the values'
};
inline const std::vector<TypeCase>& all_types() {
  static const std::vector<TypeCase> types{
      {at::kFloat, 1e-5}, {at::kBFloat16, 1e-2}, {at::kHalf, 2e-3}};
  return types;
}
inline const std::vector<std::int64_t>& all_widths() {
  static const std::vector<std::int64_t> widths{16, 128, 160, 192, 256, 288, 384, 512, 768};
  return widths;
}

inline PackedRows to_device(const PackedRows& rows) {
  return {rows.begins.to(gpu()), rows.row_of.to(gpu()), rows.longest};
}

// Rows of which some are empty, and room behind the last.
inline PackedRows uneven_rows() {
  return pack_rows(at::tensor({7, 0, 33, 1, 64, 0, 5}, at::kLong), 116, 64);
}
// So many places that a warp has several, of several rows.
inline PackedRows many_rows() {
  const at::Tensor lengths = at::arange(130, at::kLong).mul_(37).remainder_(131);
  return pack_rows(lengths, lengths.sum().item<std::int64_t>() + 77, 130);
}

inline at::Tensor is_behind(const PackedRows& rows) { return is_within(rows).logical_not(); }

// What one side computes with.
enum class Side { kPlain, kGpu };
struct Made {
  Side side = Side::kPlain;
  std::vector<at::Tensor> inputs;
  std::vector<Parameter> parameters;
  PackedRows rows;
};
using Compute = std::function<std::vector<at::Tensor>(const Made&)>;

struct Outcome {
  std::vector<at::Tensor> outputs;
  std::vector<at::Tensor> gradients;  // of inputs, then of parameters
};

// Values are given as fp32 on the CPU; those named `narrow` have the type of the case on the GPU.
struct FusedCase {
  PackedRows rows = uneven_rows();
  std::vector<at::Tensor> wide{};
  std::vector<at::Tensor> narrow{};
  std::vector<at::Tensor> parameters{};
  Compute plain;
  Compute kernel;
};

class FusedTest : public cuda::GpuTest {
 protected:
  static void compare(const FusedCase& fused, const TypeCase& type) {
    Made here = make(fused, type.type, Side::kPlain);
    const Outcome wanted = run(here, fused.plain, type.type);
    Made there = make(fused, type.type, Side::kGpu);
    const Outcome found = run(there, fused.kernel, type.type);
    Made again = make(fused, type.type, Side::kGpu);
    const Outcome second = run(again, fused.kernel, type.type);
    expect_near(found.outputs, wanted.outputs, type, "output");
    expect_near(found.gradients, wanted.gradients, type, "gradient");
    expect_equal(found.outputs, second.outputs);
    expect_equal(found.gradients, second.gradients);
  }

  static void expect_near(const at::Tensor& found, const at::Tensor& wanted, double most,
                          const std::string& what) {
    ASSERT_EQ(found.sizes(), wanted.sizes()) << what;
    const at::Tensor here = found.detach().to(at::kCPU, at::kDouble);
    const at::Tensor there = wanted.detach().to(at::kDouble);
    if (here.numel() == 0) return;
    const double error = (here - there).square().mean().sqrt().item<double>();
    const double size = there.square().mean().sqrt().item<double>();
    EXPECT_LE(error, most * size + 1e-12) << what << " of " << wanted.sizes();
  }

 private:
  static at::Tensor leaf(const at::Tensor& values, at::Device device, at::ScalarType type) {
    return values.to(device, type, /*non_blocking=*/false, /*copy=*/true).requires_grad_(true);
  }

  // What is behind the last row must not matter on the GPU, so it is no number there.
  static at::Tensor spoilt(const at::Tensor& values, const PackedRows& rows, Side side) {
    if (values.size(0) != rows.num_places()) return values;
    const double filler = side == Side::kPlain ? 0 : std::numeric_limits<double>::quiet_NaN();
    return values.masked_fill(is_behind(rows).unsqueeze(1), filler);
  }

  static Made make(const FusedCase& fused, at::ScalarType type, Side side) {
    const bool is_cpu = side == Side::kPlain;
    const at::Device device = is_cpu ? at::Device(at::kCPU) : gpu();
    Made made;
    made.side = side;
    made.rows = is_cpu ? fused.rows : to_device(fused.rows);
    for (const at::Tensor& values : fused.wide)
      made.inputs.push_back(leaf(spoilt(values, fused.rows, side), device, at::kFloat));
    for (const at::Tensor& values : fused.narrow) {
      made.inputs.push_back(leaf(spoilt(values.to(type).to(at::kFloat), fused.rows, side), device,
                                 is_cpu ? at::kFloat : type));
    }
    for (const at::Tensor& values : fused.parameters) {
      Parameter parameter{leaf(values.to(type).to(at::kFloat), device, at::kFloat),
                          std::make_shared<at::Tensor>()};
      if (!is_cpu && type != at::kFloat) *parameter.shadow = parameter.leaf.detach().to(type);
      // Gradients are added to what is there.
      if (!is_cpu) parameter.leaf.mutable_grad() = at::ones_like(parameter.leaf);
      made.parameters.push_back(parameter);
    }
    return made;
  }

  static at::Tensor gradient(const at::Tensor& tensor) {
    return tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor);
  }

  static Outcome run(Made& made, const Compute& compute, at::ScalarType type) {
    Outcome outcome{compute(made), {}};
    at::Tensor total = at::zeros({}, made.rows.begins.options().dtype(at::kFloat));
    std::uint32_t site = 900;
    for (const at::Tensor& output : outcome.outputs) {
      const at::Tensor by =
          random_values(output.dim() == 0 ? at::IntArrayRef{1} : output.sizes(), ++site)
              .view(output.sizes())
              .to(type)
              .to(at::kFloat);
      const PackedRows rows{made.rows.begins.cpu(), made.rows.row_of.cpu(), made.rows.longest};
      const at::Tensor weights = output.dim() < 2 ? by : spoilt(by, rows, made.side);
      total = total + (output.to(at::kFloat) * weights.to(output.device())).sum();
    }
    if (total.requires_grad()) total.backward();
    for (const at::Tensor& input : made.inputs) outcome.gradients.push_back(gradient(input));
    for (const Parameter& parameter : made.parameters)
      outcome.gradients.push_back(gradient(parameter.leaf) - (made.side == Side::kPlain ? 0 : 1));
    return outcome;
  }

  static void expect_near(const std::vector<at::Tensor>& found,
                          const std::vector<at::Tensor>& wanted, const TypeCase& type,
                          const std::string& what) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      expect_near(found[i], wanted[i], type.most_error, what + " " + std::to_string(i));
  }

  static void expect_equal(const std::vector<at::Tensor>& one, const std::vector<at::Tensor>& two) {
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(at::equal(one[i], two[i])) << i;
  }
};

}  // namespace stoker::train
