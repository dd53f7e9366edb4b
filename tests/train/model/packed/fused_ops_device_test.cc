// Gathers, windows, sums, flow and error on a GPU against their plain twins.
#include "stoker/train/model/packed/plain_ops.h"
#include "tests/train/model/packed/fused_cases.h"

namespace stoker::train {
namespace {

class FusedOpsTest : public FusedTest {};

using Tensors = std::vector<at::Tensor>;

TEST_F(FusedOpsTest, Embed) {
  for (const fused::Result result : {fused::Result::kCompute, fused::Result::kFloat}) {
    for (const std::int64_t width : {16, 160, 256, 384}) {
      for (const std::int64_t num_ids : {3, 40}) {
        const at::Tensor ids = at::arange(1500, at::kLong).mul_(7).remainder_(num_ids + 1).sub_(1);
        const FusedCase fused{
            .parameters = {random_values({num_ids, width}, 1)},
            .plain =
                [&](const Made& made) {
                  return Tensors{plain::embed(ids, made.parameters[0], result)};
                },
            .kernel =
                [&](const Made& made) {
                  return Tensors{kernel::embed(ids.to(gpu()), made.parameters[0], result)};
                }};
        for (const TypeCase& type : all_types()) compare(fused, type);
      }
    }
  }
}

TEST_F(FusedOpsTest, Unfold) {
  for (const auto& [kernel, stride] : {std::pair{3, 1}, {5, 1}, {5, 2}, {1, 1}, {3, 3}}) {
    for (const std::int64_t width : {1, 6, 16, 80, 256}) {
      const fused::Unfolding by{kernel, stride};
      const PackedRows from = uneven_rows();
      const at::Tensor lengths = at::diff(from.begins.to(at::kLong));
      const PackedRows to =
          pack_rows((lengths + (by.stride - 1)).floor_divide(by.stride), 113, from.longest);
      const FusedCase fused{
          .rows = from,
          .narrow = {random_values({from.num_places(), width}, 1)},
          .plain =
              [&](const Made& made) {
                return Tensors{plain::unfold(made.inputs[0], by, made.rows, to)};
              },
          .kernel =
              [&](const Made& made) {
                return Tensors{kernel::unfold(made.inputs[0], by, made.rows, to_device(to))};
              }};
      SCOPED_TRACE("width " + std::to_string(width) + ", kernel " + std::to_string(kernel) +
                   ", stride " + std::to_string(stride));
      for (const TypeCase& type : all_types()) compare(fused, type);
    }
  }
}

// Ranges of 0, 1 and more places, and a value that a column of [T, 2, C] holds.
TEST_F(FusedOpsTest, Repeat) {
  const at::Tensor counts = at::tensor({0, 3, 1, 0, 40, 2, 0}, at::kLong);
  const PackedRows ranges = pack_rows(counts, 51, 40);
  const at::Tensor of = ranges.row_of.masked_fill(ranges.row_of.eq(7), -1);
  for (const std::int64_t width : {1, 80, 130, 512}) {
    const FusedCase fused{
        .rows = ranges,
        .narrow = {random_values({7, 2, width}, 1)},
        .plain =
            [&](const Made& made) {
              return Tensors{plain::repeat(made.inputs[0].select(1, 1), {of, ranges.begins})};
            },
        .kernel =
            [&](const Made& made) {
              return Tensors{kernel::repeat(made.inputs[0].select(1, 1),
                                            {of.to(gpu()), ranges.begins.to(gpu())})};
            }};
    for (const TypeCase& type : all_types()) compare(fused, type);
  }
}

TEST_F(FusedOpsTest, Rearrange) {
  const Rearrangement way{at::tensor({4, -1, 0, 2, -1, 5}, at::kLong),
                          at::tensor({2, -1, 3, -1, 0, 5, -1}, at::kLong)};
  for (const std::int64_t width : {1, 3, 8, 160}) {
    const FusedCase fused{
        .narrow = {random_values({7, width}, 1)},
        .plain = [&](const Made& made) { return Tensors{rearrange(made.inputs[0], way)}; },
        .kernel =
            [&](const Made& made) {
              return Tensors{
                  kernel::rearrange(made.inputs[0], {way.from.to(gpu()), way.to.to(gpu())})};
            }};
    for (const TypeCase& type : all_types()) compare(fused, type);
  }
}

TEST_F(FusedOpsTest, SquaredError) {
  for (const std::int64_t width : {1, 13, 80, 160}) {
    const PackedRows rows = many_rows();
    const std::int64_t num_places = rows.num_places();
    const at::Tensor target = random_values({num_places, width}, 3);
    const at::Tensor weight = at::arange(num_places, at::kLong)
                                  .remainder(3)
                                  .to(at::kFloat)
                                  .masked_fill(is_behind(rows), 0);
    const at::Tensor spoilt_target = target.masked_fill(weight.eq(0).unsqueeze(1), NAN);
    const FusedCase fused{
        .rows = rows,
        .narrow = {random_values({num_places, width}, 1)},
        .plain =
            [&](const Made& made) {
              return Tensors{plain::squared_error(made.inputs[0], target, weight)};
            },
        .kernel =
            [&](const Made& made) {
              return Tensors{
                  kernel::squared_error(made.inputs[0], spoilt_target.to(gpu()), weight.to(gpu()))};
            }};
    for (const TypeCase& type : all_types()) compare(fused, type);
  }
}

// Noise is that of the CPU bit for bit: the velocity of silence shows it.
TEST_F(FusedOpsTest, FlowPoint) {
  const StepKey key{3, 77 + (9ULL << 32U)};
  const at::Tensor step = at::full({1}, static_cast<std::int64_t>(key.step), at::kLong).to(gpu());
  const StepKey late{3, 0, reinterpret_cast<const std::uint64_t*>(step.const_data_ptr())};
  const PackedRows rows = uneven_rows();
  const at::Tensor time = at::arange(7, at::kFloat) / 6;
  for (const std::int64_t width : {1, 13, 80, 100}) {
    const at::Tensor mel = random_values({rows.num_places(), width}, 1);
    const at::Tensor spoilt = mel.masked_fill(is_behind(rows).unsqueeze(1), NAN);
    for (const TypeCase& type : all_types()) {
      const auto wanted = plain::flow_point(mel, time, key, rows, type.type);
      const auto found =
          kernel::flow_point(spoilt.to(gpu()), time.to(gpu()), key, to_device(rows), type.type);
      const auto again =
          kernel::flow_point(spoilt.to(gpu()), time.to(gpu()), late, to_device(rows), type.type);
      expect_near(found.noisy, wanted.noisy.to(at::kFloat), type.most_error, "noisy");
      expect_near(found.velocity, wanted.velocity, 1e-6, "velocity");
      EXPECT_TRUE(at::equal(found.noisy, again.noisy));
      EXPECT_TRUE(at::equal(found.velocity, again.velocity));
    }
    const at::Tensor silence = at::zeros_like(mel);
    const auto noise = plain::flow_point(silence, time, key, rows, at::kFloat).velocity;
    EXPECT_TRUE(at::equal(
        kernel::flow_point(silence.to(gpu()), time.to(gpu()), key, to_device(rows), at::kFloat)
            .velocity.cpu(),
        noise));
  }
}

TEST_F(FusedOpsTest, RowsAndTheirPadding) {
  for (const PackedRows& rows : {uneven_rows(), many_rows()}) {
    const at::Tensor lengths = at::diff(rows.begins).to(at::kLong);
    const PackedRows found = kernel::pack_rows(lengths.to(gpu()), rows.num_places(), rows.longest);
    EXPECT_TRUE(at::equal(found.begins.cpu(), rows.begins));
    EXPECT_TRUE(at::equal(found.row_of.cpu(), rows.row_of));
    EXPECT_TRUE(at::equal(kernel::place_in_row(found).cpu(), place_in_row(rows)));
    for (const std::int64_t width : {1, 5, 80}) {
      const at::Tensor values = random_values({rows.num_places(), width, 2}, 1);
      const at::Tensor padded = pad_rows(values, rows);
      EXPECT_TRUE(at::equal(kernel::pad_rows(values.to(gpu()), found).cpu(), padded));
      EXPECT_TRUE(
          at::equal(kernel::join_rows(padded.to(gpu()), found).cpu(), join_rows(padded, rows)));
    }
    const at::Tensor numbers = at::arange(rows.num_places(), at::kLong);
    EXPECT_TRUE(
        at::equal(kernel::pad_rows(numbers.to(gpu()), found).cpu(), pad_rows(numbers, rows)));
  }
}

TEST_F(FusedOpsTest, MoreRowsThanABlockHasThreads) {
  const at::Tensor lengths = at::arange(2500, at::kLong).remainder_(4);
  const PackedRows rows = pack_rows(lengths, 4000, 3);
  const PackedRows found = kernel::pack_rows(lengths.to(gpu()), 4000, 3);
  EXPECT_TRUE(at::equal(found.begins.cpu(), rows.begins));
  EXPECT_TRUE(at::equal(found.row_of.cpu(), rows.row_of));
}

}  // namespace
}  // namespace stoker::train
