// Rotary turning, GELU's gradient and sums of columns on a GPU, on pointers.
#include "stoker/train/model/packed/attention_kernels.h"
#include "stoker/train/model/packed/tensor_views.h"
#include "tests/train/model/packed/fused_cases.h"

namespace stoker::train {
namespace {

class RowKernelsTest : public FusedTest {
 protected:
  static cuda::StreamView stream() { return current_stream(gpu()); }
};

TEST_F(RowKernelsTest, TurnHeadsAsTheRotaryTableAndBack) {
  const PackedRows rows = uneven_rows();
  const PackedRows there = to_device(rows);
  for (const TypeCase& type : all_types()) {
    if (type.type == at::kFloat) continue;  // attention in f32 is the plain twin's
    for (const std::int64_t width : {32, 48, 64, 72, 80}) {
      const std::int64_t heads = 3;
      const at::Tensor values =
          random_values({rows.num_places(), 3 * heads * width}, 1).to(type.type).to(at::kFloat);
      const at::Tensor parts = pad_rows(values, rows).unflatten(2, {3, heads, width});
      const at::Tensor turned =
          at::cat({RotaryTable(width).turn(parts.narrow(2, 0, 2)), parts.narrow(2, 2, 1)}, 2);
      const at::Tensor wanted = join_rows(turned.flatten(2), rows);
      const at::Tensor found = values.to(gpu(), type.type);
      const auto in_bits = type.type == at::kHalf ? ShortType::kF16 : ShortType::kBf16;
      const HeadSize size{heads, width};
      const PlacesView places{there.begins.const_data_ptr<std::int32_t>(),
                              there.row_of.const_data_ptr<std::int32_t>(), there.num_rows(),
                              there.num_places()};
      turn_heads(found.data_ptr(), in_bits, size, places, stream());
      const std::int64_t inside = rows.begins[-1].item<std::int64_t>();
      expect_near(found.narrow(0, 0, inside), wanted.narrow(0, 0, inside), type.most_error,
                  "turned");
      EXPECT_TRUE(at::equal(found.cpu().to(at::kFloat).slice(0, inside), values.slice(0, inside)));
      const auto of = found.chunk(3, 1);
      const std::vector<at::Tensor> each{of[0].contiguous(), of[1].contiguous(),
                                         of[2].contiguous()};
      const at::Tensor back = at::empty_like(found);
      join_turned_back(
          {each[0].const_data_ptr(), each[1].const_data_ptr(), each[2].const_data_ptr()},
          back.data_ptr(), in_bits, size, places, stream());
      expect_near(back.narrow(0, 0, inside), values.narrow(0, 0, inside), type.most_error,
                  "turned back");
      EXPECT_EQ(back.slice(0, inside).abs().sum().item<float>(), 0);
    }
  }
}

TEST_F(RowKernelsTest, GradientOfGeluAndItsSums) {
  for (const TypeCase& type : all_types()) {
    for (const std::int64_t width : {1, 13, 512}) {
      // Far from zero GELU is flat or straight.
      const at::Tensor u = (random_values({300, width}, 1) * 4).to(type.type).to(at::kFloat);
      const at::Tensor d_g = random_values({300, width}, 2).to(type.type).to(at::kFloat);
      const at::Tensor wanted = at::gelu_backward(d_g, u, "tanh");
      const at::Tensor u_there = u.to(gpu(), type.type);
      const at::Tensor d_there = d_g.to(gpu(), type.type);
      const at::Tensor sums = at::ones({width}, gpu());
      const at::Tensor d_u = at::empty_like(u_there);
      device::ColumnSums columns{.values = {nullptr, value_type(type.type), width},
                                 .num_places = 300,
                                 .width = width,
                                 .out = sums.data_ptr<float>()};
      const at::Tensor partials = at::empty({device::column_sum_partials(columns)}, sums.options());
      columns.partials = partials.data_ptr<float>();
      device::gelu_backward_with_sums(columns, u_there.data_ptr(), d_there.data_ptr(),
                                      d_u.data_ptr(), stream());
      expect_near(d_u, wanted, type.most_error, "the gradient");
      expect_near(sums, wanted.sum(0) + 1, type.most_error, "sums of the gradient");
    }
  }
}

TEST_F(RowKernelsTest, ColumnSumsAreAddedInAFixedOrder) {
  for (const TypeCase& type : all_types()) {
    for (const std::int64_t num_places : {1, 100, 20'000}) {
      for (const std::int64_t width : {1, 12, 80, 520}) {
        const at::Tensor values =
            (random_values({num_places, width}, 1) + 0.3).to(type.type).to(at::kFloat);
        const at::Tensor there = values.to(gpu(), type.type);
        std::vector<at::Tensor> found;
        for (int i = 0; i < 2; ++i) {
          found.push_back(at::full({width}, 5.0, at::TensorOptions(gpu()).dtype(at::kFloat)));
          device::ColumnSums job{.values = view_of(there),
                                 .num_places = num_places,
                                 .width = width,
                                 .out = found.back().data_ptr<float>()};
          const at::Tensor partials =
              at::empty({device::column_sum_partials(job)}, found[0].options());
          job.partials = partials.data_ptr<float>();
          device::add_column_sums(job, stream());
        }
        expect_near(found[0], values.to(at::kDouble).sum(0) + 5, 1e-5, "sums");
        EXPECT_TRUE(at::equal(found[0], found[1]));
      }
    }
  }
}

}  // namespace
}  // namespace stoker::train
