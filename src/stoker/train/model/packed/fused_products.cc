#include "stoker/train/model/packed/fused_products.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stoker/train/model/packed/attention_kernels.h"
#include "stoker/train/model/packed/matrix_product.h"
#include "stoker/train/model/packed/plain_ops.h"
#include "stoker/train/model/packed/row_kernels.h"
#include "stoker/train/model/packed/tensor_views.h"

namespace stoker::train::kernel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

bool is_short(at::ScalarType type) { return type == at::kBFloat16 || type == at::kHalf; }

// Where a parameter's gradient is summed up, and what products read.
struct ProductParts {
  at::Tensor weight;           // [out, in], compute type
  at::Tensor bias;             // [out], compute type
  at::Tensor exact_bias;       // f32 [out]
  at::Tensor weight_gradient;  // f32 [out, in]
  at::Tensor bias_gradient;    // f32 [out]
};

ProductParts parts_of(const Parameter& weight, const Parameter& bias) {
  return {weight.value().detach().flatten(1), bias.value().detach(), bias.leaf.detach(),
          weight.leaf.grad().defined() ? weight.leaf.grad().flatten(1) : at::Tensor(),
          bias.leaf.grad()};
}

// cuBLASLt reads 16 bytes at once.
bool is_whole(const at::Tensor& matrix) {
  return is_short(matrix.scalar_type()) && matrix.size(0) > 0 && matrix.size(1) % 8 == 0 &&
         reinterpret_cast<std::uintptr_t>(matrix.const_data_ptr()) % 16 == 0;
}
bool is_fast(const at::Tensor& values, const ProductParts& parts) {
  return is_whole(values) && is_whole(parts.weight) && parts.weight.size(0) % 8 == 0;
}

MatrixType matrix_type(const at::Tensor& values) {
  if (values.scalar_type() == at::kFloat) return MatrixType::kF32;
  return values.scalar_type() == at::kHalf ? MatrixType::kF16 : MatrixType::kBf16;
}

MatrixView matrix(const at::Tensor& values, bool is_turned = false) {
  return {values.const_data_ptr(), values.size(0), values.size(1), is_turned};
}

void* pointer(const at::Tensor& values) { return values.defined() ? values.data_ptr() : nullptr; }

struct Ending {
  Epilogue epilogue = Epilogue::kNone;
  at::Tensor bias{};
  at::Tensor before{};
  bool is_added = false;
};

void multiply_into(const at::Tensor& out, const MatrixView& left, const MatrixView& right,
                   at::ScalarType type, const Ending& ending = {}) {
  const at::Tensor workspace = at::empty({static_cast<std::int64_t>(kProductWorkspaceBytes)},
                                         out.options().dtype(at::kByte));
  multiply({.left = left,
            .right = right,
            .type = type == at::kHalf ? MatrixType::kF16 : MatrixType::kBf16,
            .out = out.data_ptr(),
            .out_type = matrix_type(out),
            .is_added = ending.is_added,
            .epilogue = ending.epilogue,
            .bias = pointer(ending.bias),
            .before = pointer(ending.before),
            .workspace = workspace.data_ptr()},
           current_stream(out.device()));
}

at::Tensor product(const at::Tensor& values, const ProductParts& parts, fused::Result result) {
  const bool is_float = result == fused::Result::kFloat;
  if (is_fast(values, parts)) {
    at::Tensor out =
        at::empty({values.size(0), parts.weight.size(0)},
                  values.options().dtype(is_float ? at::kFloat : values.scalar_type()));
    multiply_into(out, matrix(values), matrix(parts.weight, true), values.scalar_type(),
                  {Epilogue::kBias, is_float ? parts.exact_bias : parts.bias, {}});
    return out;
  }
  if (is_float && is_short(values.scalar_type()))
    return at::mm(values, parts.weight.t(), at::kFloat).add_(parts.exact_bias);
  return at::addmm(parts.bias, values, parts.weight.t());
}

// What GELU was applied to, and the result.
std::pair<at::Tensor, at::Tensor> product_gelu(const at::Tensor& values,
                                               const ProductParts& parts) {
  if (!is_fast(values, parts)) {
    const at::Tensor before = product(values, parts, fused::Result::kCompute);
    return {before, gelu_of(before)};
  }
  const at::Tensor out = at::empty({values.size(0), parts.weight.size(0)}, values.options());
  const at::Tensor before = at::empty_like(out);
  multiply_into(out, matrix(values), matrix(parts.weight, true), values.scalar_type(),
                {Epilogue::kBiasGelu, parts.bias, before});
  return {before, out};
}

void add_weight_gradient(const at::Tensor& gradient, const at::Tensor& values,
                         const ProductParts& parts) {
  if (is_fast(values, parts)) {
    multiply_into(parts.weight_gradient, matrix(gradient, true), matrix(values),
                  values.scalar_type(), {.is_added = true});
  } else if (is_short(gradient.scalar_type())) {
    parts.weight_gradient.add_(at::mm(gradient.t(), values, at::kFloat));
  } else {
    at::Tensor(parts.weight_gradient).addmm_(gradient.t(), values);
  }
}

// Sums of the columns of values like these go to `out`; the partial sums are kept by the caller.
device::ColumnSums sums_of(const at::Tensor& like, const at::Tensor& out, at::Tensor& partials) {
  device::ColumnSums job{.values = view_of(like),
                         .num_places = like.size(0),
                         .width = like.size(1),
                         .out = out.data_ptr<float>()};
  partials = at::empty({device::column_sum_partials(job)}, out.options());
  job.partials = partials.data_ptr<float>();
  return job;
}

void add_gradients(const at::Tensor& gradient, const at::Tensor& values,
                   const ProductParts& parts) {
  at::Tensor partials;
  device::add_column_sums(sums_of(gradient, parts.bias_gradient, partials),
                          current_stream(gradient.device()));
  add_weight_gradient(gradient, values, parts);
}

at::Tensor value_gradient(const at::Tensor& gradient, const ProductParts& parts) {
  if (!is_fast(gradient, parts)) return at::mm(gradient, parts.weight);
  at::Tensor out = at::empty({gradient.size(0), parts.weight.size(1)}, gradient.options());
  multiply_into(out, matrix(gradient), matrix(parts.weight), gradient.scalar_type());
  return out;
}

// Through the GELU of a product: adds the bias's gradient and gives that of the product.
at::Tensor gelu_gradient(const at::Tensor& gradient, const at::Tensor& before,
                         const ProductParts& parts) {
  at::Tensor out = at::empty_like(before);
  at::Tensor partials;
  device::gelu_backward_with_sums(sums_of(out, parts.bias_gradient, partials),
                                  before.const_data_ptr(), gradient.const_data_ptr(),
                                  out.data_ptr(), current_stream(out.device()));
  return out;
}

// Adds the parameters' gradients and gives that of the values, where it is asked for.
at::Tensor product_backward(const at::Tensor& gradient, const at::Tensor& values,
                            const ProductParts& parts, bool is_wanted) {
  add_gradients(gradient, values, parts);
  return is_wanted ? value_gradient(gradient, parts) : at::Tensor();
}

// Not by save_for_backward: the gradients, which are parts of one buffer, change between forward
// and backward, and that is what it forbids.
void keep(AutogradContext* context, const std::string& name, const ProductParts& parts) {
  context->saved_data[name] = std::vector<at::Tensor>{parts.weight, parts.bias, parts.exact_bias,
                                                      parts.weight_gradient, parts.bias_gradient};
}

ProductParts kept(AutogradContext* context, const std::string& name) {
  const std::vector<at::Tensor> parts = context->saved_data.at(name).toTensorVector();
  return {parts[0], parts[1], parts[2], parts[3], parts[4]};
}

// The leaf is an input so that the result asks for a gradient; its own never comes through
// autograd.
class LinearFunction final : public torch::autograd::Function<LinearFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values, const at::Tensor&,
                            const ProductParts& parts, fused::Result result) {
    const at::Tensor given = values.to(parts.weight.scalar_type()).contiguous();
    context->save_for_backward({given});
    keep(context, "parts", parts);
    return product(given, parts, result);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor values = context->get_saved_variables()[0];
    const at::Tensor gradient = gradients[0].to(values.scalar_type()).contiguous();
    return {
        product_backward(gradient, values, kept(context, "parts"), context->needs_input_grad(0)),
        {},
        {},
        {}};
  }
};

class LinearGeluFunction final : public torch::autograd::Function<LinearGeluFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values, const at::Tensor&,
                            const ProductParts& parts) {
    const at::Tensor given = values.to(parts.weight.scalar_type()).contiguous();
    const auto [before, out] = product_gelu(given, parts);
    context->save_for_backward({given, before});
    keep(context, "parts", parts);
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const ProductParts parts = kept(context, "parts");
    const at::Tensor gradient =
        gelu_gradient(dense(gradients[0].to(saved[1].scalar_type())), saved[1], parts);
    add_weight_gradient(gradient, saved[0], parts);
    return {context->needs_input_grad(0) ? value_gradient(gradient, parts) : at::Tensor(), {}, {}};
  }
};

class FeedForwardFunction final : public torch::autograd::Function<FeedForwardFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values, const at::Tensor&,
                            const ProductParts& up, const ProductParts& down) {
    const at::Tensor given = values.to(up.weight.scalar_type()).contiguous();
    const auto [before, middle] = product_gelu(given, up);
    context->save_for_backward({given, before, middle});
    keep(context, "up", up);
    keep(context, "down", down);
    return product(middle, down, fused::Result::kCompute);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const ProductParts down = kept(context, "down");
    const at::Tensor gradient = gradients[0].to(saved[2].scalar_type()).contiguous();
    add_gradients(gradient, saved[2], down);
    const ProductParts up = kept(context, "up");
    const at::Tensor inner = gelu_gradient(value_gradient(gradient, down), saved[1], up);
    add_weight_gradient(inner, saved[0], up);
    return {context->needs_input_grad(0) ? value_gradient(inner, up) : at::Tensor(), {}, {}, {}};
  }
};

ShortType short_type(const at::Tensor& values) {
  return values.scalar_type() == at::kHalf ? ShortType::kF16 : ShortType::kBf16;
}

PlacesView places_of(const at::Tensor& begins, const at::Tensor& row_of) {
  return {begins.const_data_ptr<std::int32_t>(), row_of.const_data_ptr<std::int32_t>(),
          begins.size(0) - 1, row_of.size(0)};
}

void zero_behind(const at::Tensor& values, const PlacesView& places) {
  zero_behind_rows(values.data_ptr(), values.stride(0) * values.element_size(), places,
                   current_stream(values.device()));
}

struct SequenceEnds {
  at::Tensor begins;
  std::int64_t longest;
};

variable_list attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const SequenceEnds& queries, const SequenceEnds& keys) {
  auto [out, log_sum, seed, unused, debug] = at::_flash_attention_forward(
      query, key, value, queries.begins, keys.begins, queries.longest, keys.longest,
      /*dropout_p=*/0.0, /*is_causal=*/false, /*return_debug_mask=*/false);
  return {out, log_sum, seed, unused};
}

class AttentionFunction final : public torch::autograd::Function<AttentionFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& query_key_value,
                            std::int64_t num_heads, const PackedRows& rows) {
    const at::Tensor parts = query_key_value.unflatten(1, {3, num_heads, -1});
    const PlacesView places = places_of(rows.begins, rows.row_of);
    // In place: what made these values does not look at them again.
    turn_heads(query_key_value.data_ptr(), short_type(parts), {num_heads, parts.size(3)}, places,
               current_stream(parts.device()));
    variable_list made = attend(parts.select(1, 0), parts.select(1, 1), parts.select(1, 2),
                                {rows.begins, rows.longest}, {rows.begins, rows.longest});
    at::Tensor out = made[0].flatten(1);
    zero_behind(out, places);
    context->saved_data["longest"] = rows.longest;
    made.insert(made.end(), {parts, rows.begins, rows.row_of});
    context->save_for_backward(std::move(made));
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& parts = saved[4];
    const at::Tensor& begins = saved[5];
    const std::int64_t longest = context->saved_data["longest"].toInt();
    const at::Tensor gradient = gradients[0].contiguous().view(saved[0].sizes());
    const auto [query, key, value] = at::_flash_attention_backward(
        gradient, parts.select(1, 0), parts.select(1, 1), parts.select(1, 2), saved[0], saved[1],
        begins, begins, longest, longest, /*dropout_p=*/0.0, /*is_causal=*/false, saved[2],
        saved[3]);
    at::Tensor joined = at::empty(parts.sizes(), parts.options());
    join_turned_back({query.const_data_ptr(), key.const_data_ptr(), value.const_data_ptr()},
                     joined.data_ptr(), short_type(parts), {parts.size(2), parts.size(3)},
                     places_of(begins, saved[6]), current_stream(parts.device()));
    return {joined.flatten(1), {}, {}};
  }
};

class CrossAttentionFunction final : public torch::autograd::Function<CrossAttentionFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& queries,
                            const at::Tensor& key_value, std::int64_t num_heads,
                            const PackedRows& rows) {
    const std::int64_t num_rows = rows.num_rows();
    const std::int64_t num_queries = queries.size(0) / num_rows;
    const at::Tensor ends = at::arange(num_rows + 1, rows.begins.options()).mul_(num_queries);
    const at::Tensor query = queries.unflatten(1, {num_heads, -1});
    const at::Tensor parts = key_value.unflatten(1, {2, num_heads, -1});
    variable_list made = attend(query, parts.select(1, 0), parts.select(1, 1), {ends, num_queries},
                                {rows.begins, rows.longest});
    at::Tensor out = made[0].flatten(1);
    context->saved_data["longest"] = rows.longest;
    context->saved_data["num_queries"] = num_queries;
    made.insert(made.end(), {query, parts, ends, rows.begins, rows.row_of});
    context->save_for_backward(std::move(made));
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& parts = saved[5];
    const auto [query, key, value] = at::_flash_attention_backward(
        gradients[0].contiguous().view(saved[0].sizes()), saved[4], parts.select(1, 0),
        parts.select(1, 1), saved[0], saved[1], saved[6], saved[7],
        context->saved_data["num_queries"].toInt(), context->saved_data["longest"].toInt(),
        /*dropout_p=*/0.0, /*is_causal=*/false, saved[2], saved[3]);
    const at::Tensor joined = at::stack({key, value}, 1).flatten(1);
    zero_behind(joined, places_of(saved[7], saved[8]));
    return {query.flatten(1), joined, {}, {}};
  }
};

}  // namespace

at::Tensor linear(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                  fused::Result result) {
  return LinearFunction::apply(values, weight.leaf, parts_of(weight, bias), result);
}

at::Tensor linear_gelu(const at::Tensor& values, const Parameter& weight, const Parameter& bias) {
  return LinearGeluFunction::apply(values, weight.leaf, parts_of(weight, bias));
}

at::Tensor feed_forward(const at::Tensor& values, const Linear& up, const Linear& down) {
  return FeedForwardFunction::apply(values, up.weight().leaf, parts_of(up.weight(), up.bias()),
                                    parts_of(down.weight(), down.bias()));
}

at::Tensor attention(const at::Tensor& query_key_value, std::int64_t num_heads,
                     const PackedRows& rows) {
  if (!is_short(query_key_value.scalar_type()))
    return plain::attention(query_key_value, num_heads, rows);
  return AttentionFunction::apply(query_key_value, num_heads, rows);
}

at::Tensor cross_attention(const at::Tensor& queries, const at::Tensor& key_value,
                           std::int64_t num_heads, const PackedRows& rows) {
  if (!is_short(key_value.scalar_type()))
    return plain::cross_attention(queries, key_value, num_heads, rows);
  return CrossAttentionFunction::apply(queries, key_value, num_heads, rows);
}

}  // namespace stoker::train::kernel
