// Norms on a GPU, with what joins the residual before, against their plain twins.
#include "stoker/train/model/packed/plain_ops.h"
#include "tests/train/model/packed/fused_cases.h"

namespace stoker::train {
namespace {

class FusedNormsTest : public FusedTest {
 protected:
  // Each case in every type and width, and once with many places.
  static void compare_all(const std::function<FusedCase(const PackedRows&, std::int64_t)>& make) {
    for (const TypeCase& type : all_types()) {
      for (const std::int64_t width : all_widths()) {
        SCOPED_TRACE(std::string(at::toString(type.type)) + ", width " + std::to_string(width));
        compare(make(uneven_rows(), width), type);
      }
      SCOPED_TRACE(std::string(at::toString(type.type)) + ", many rows");
      compare(make(many_rows(), 24), type);
    }
  }
};

// [B, C] as one of three neighbours in memory.
at::Tensor one_of_three(const at::Tensor& values) {
  return at::stack({values + 1, values, values - 1}, 1).select(1, 1);
}

at::ScalarType type_of(const Made& made) { return made.inputs.back().scalar_type(); }

TEST_F(FusedNormsTest, NormModulate) {
  compare_all([](const PackedRows& rows, std::int64_t width) {
    return FusedCase{
        .rows = rows,
        .wide = {random_values({rows.num_places(), width}, 1) * 2 + 1,
                 random_values({rows.num_rows(), width}, 2),
                 random_values({rows.num_rows(), width}, 3)},
        .narrow = {at::zeros({1, 1})},  // names the type
        .plain =
            [](const Made& made) {
              return std::vector<at::Tensor>{plain::norm_modulate(
                  made.inputs[0], {made.inputs[1], made.inputs[2]}, made.rows)};
            },
        .kernel =
            [](const Made& made) {
              return std::vector<at::Tensor>{kernel::norm_modulate(
                  made.inputs[0], {one_of_three(made.inputs[1]), one_of_three(made.inputs[2])},
                  made.rows, type_of(made))};
            }};
  });
}

TEST_F(FusedNormsTest, AddNormModulate) {
  compare_all([](const PackedRows& rows, std::int64_t width) {
    return FusedCase{.rows = rows,
                     .wide = {random_values({rows.num_places(), width}, 1),
                              random_values({rows.num_rows(), width}, 2),
                              random_values({rows.num_rows(), width}, 3),
                              random_values({rows.num_rows(), width}, 4)},
                     .narrow = {random_values({rows.num_places(), width}, 5)},
                     .plain =
                         [](const Made& made) {
                           const auto& in = made.inputs;
                           const fused::SumAndNorm out = plain::add_norm_modulate(
                               in[0], in[4], in[1], {in[2], in[3]}, made.rows);
                           return std::vector<at::Tensor>{out.sum, out.norm};
                         },
                     .kernel =
                         [](const Made& made) {
                           const auto& in = made.inputs;
                           const fused::SumAndNorm out =
                               kernel::add_norm_modulate(in[0], in[4], one_of_three(in[1]),
                                                         {in[2], one_of_three(in[3])}, made.rows);
                           return std::vector<at::Tensor>{out.sum, out.norm};
                         }};
  });
}

// A gradient arrives through one of the two alone.
TEST_F(FusedNormsTest, AddNormModulateOfOneOutput) {
  for (const bool is_sum : {false, true}) {
    const auto one_of = [is_sum](const fused::SumAndNorm& out) {
      return std::vector<at::Tensor>{is_sum ? out.sum : out.norm};
    };
    const PackedRows rows = uneven_rows();
    FusedCase fused{
        .rows = rows,
        .wide = {random_values({rows.num_places(), 64}, 1), random_values({rows.num_rows(), 64}, 2),
                 random_values({rows.num_rows(), 64}, 3), random_values({rows.num_rows(), 64}, 4)},
        .narrow = {random_values({rows.num_places(), 64}, 5)},
        .plain = {},
        .kernel = {}};
    fused.plain = [&](const Made& made) {
      const auto& in = made.inputs;
      return one_of(plain::add_norm_modulate(in[0], in[4], in[1], {in[2], in[3]}, made.rows));
    };
    fused.kernel = [&](const Made& made) {
      const auto& in = made.inputs;
      return one_of(kernel::add_norm_modulate(in[0], in[4], in[1], {in[2], in[3]}, made.rows));
    };
    for (const TypeCase& type : all_types()) compare(fused, type);
  }
}

TEST_F(FusedNormsTest, LayerNorm) {
  for (const bool is_wide : {false, true}) {
    compare_all([is_wide](const PackedRows& rows, std::int64_t width) {
      const std::vector<at::Tensor> values{random_values({rows.num_places(), width}, 1) * 3 - 1};
      return FusedCase{
          .rows = rows,
          .wide = is_wide ? values : std::vector<at::Tensor>{},
          .narrow = is_wide ? std::vector<at::Tensor>{} : values,
          .parameters = {random_values({width}, 2), random_values({width}, 3)},
          .plain =
              [](const Made& made) {
                return std::vector<at::Tensor>{plain::layer_norm(made.inputs[0], made.parameters[0],
                                                                 made.parameters[1], made.rows)};
              },
          .kernel =
              [](const Made& made) {
                return std::vector<at::Tensor>{kernel::layer_norm(
                    made.inputs[0], made.parameters[0], made.parameters[1], made.rows)};
              }};
    });
  }
}

TEST_F(FusedNormsTest, AddDroppedNorm) {
  for (const double rate : {0.0, 0.3}) {
    const fused::Dropout dropout{{7, 11}, 5, rate};
    compare_all([dropout](const PackedRows& rows, std::int64_t width) {
      return FusedCase{.rows = rows,
                       .wide = {random_values({rows.num_places(), width}, 1)},
                       .narrow = {random_values({rows.num_places(), width}, 4)},
                       .parameters = {random_values({width}, 2), random_values({width}, 3)},
                       .plain =
                           [dropout](const Made& made) {
                             const fused::SumAndNorm out = plain::add_dropped_norm(
                                 made.inputs[0], made.inputs[1], dropout, made.parameters[0],
                                 made.parameters[1], made.rows);
                             return std::vector<at::Tensor>{out.sum, out.norm};
                           },
                       .kernel =
                           [dropout](const Made& made) {
                             const fused::SumAndNorm out = kernel::add_dropped_norm(
                                 made.inputs[0], made.inputs[1], dropout, made.parameters[0],
                                 made.parameters[1], made.rows);
                             return std::vector<at::Tensor>{out.sum, out.norm};
                           }};
    });
  }
}

TEST_F(FusedNormsTest, Drop) {
  const fused::Dropout dropout{{7, 11 + (3ULL << 32U)}, 5, 0.4};
  compare_all([dropout](const PackedRows& rows, std::int64_t width) {
    return FusedCase{
        .rows = rows,
        .narrow = {random_values({rows.num_places(), width}, 4)},
        .plain =
            [dropout](const Made& made) {
              return std::vector<at::Tensor>{plain::drop(made.inputs[0], dropout, made.rows)};
            },
        .kernel =
            [dropout](const Made& made) {
              return std::vector<at::Tensor>{kernel::drop(made.inputs[0], dropout, made.rows)};
            }};
  });
}

// What is kept is decided by the draws of the CPU, bit for bit, wherever the step is written.
TEST_F(FusedNormsTest, DropsByTheStepInDeviceMemory) {
  const PackedRows rows = uneven_rows();
  const at::Tensor values = random_values({rows.num_places(), 48}, 1);
  const StepKey key{3, 77 + (9ULL << 32U)};
  const at::Tensor step = at::full({1}, static_cast<std::int64_t>(key.step), at::kLong).to(gpu());
  StepKey late{3, 0, reinterpret_cast<const std::uint64_t*>(step.const_data_ptr())};
  const at::Tensor wanted = plain::drop(values, {key, 2, 0.5}, rows);
  const at::Tensor found = kernel::drop(values.to(gpu()), {late, 2, 0.5}, to_device(rows));
  EXPECT_TRUE(at::equal(found.cpu(), wanted));
}

}  // namespace
}  // namespace stoker::train
