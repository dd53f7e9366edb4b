#include "stoker/train/model/packed/fused_products.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "stoker/train/model/packed/attention_kernels.h"
#include "stoker/train/model/packed/plain_ops.h"

namespace stoker::train::kernel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

bool is_short(at::ScalarType type) { return type == at::kBFloat16 || type == at::kHalf; }

// Where a parameter's gradient is summed up, and what products read.
struct ProductParts {
  at::Tensor weight;           // [out, in], compute type
  at::Tensor bias;             // [out], compute type
  at::Tensor weight_gradient;  // f32 [out, in]
  at::Tensor bias_gradient;    // f32 [out]
};

ProductParts parts_of(const Parameter& weight, const Parameter& bias) {
  return {weight.value().detach().flatten(1), bias.value().detach(),
          weight.leaf.grad().defined() ? weight.leaf.grad().flatten(1) : at::Tensor(),
          bias.leaf.grad()};
}

// C += A B with a sum in fp32, whatever A and B are.
void add_product(at::Tensor sum, const at::Tensor& left, const at::Tensor& right) {
  if (is_short(left.scalar_type())) {
    sum.add_(at::mm(left, right, at::kFloat));
  } else {
    sum.addmm_(left, right);
  }
}

at::Tensor product(const at::Tensor& values, const ProductParts& parts, fused::Result result) {
  if (result == fused::Result::kFloat && is_short(values.scalar_type()))
    return at::mm(values, parts.weight.t(), at::kFloat).add_(parts.bias);
  return at::addmm(parts.bias, values, parts.weight.t());
}

// Adds the parameters' gradients and gives that of the values, where it is asked for.
at::Tensor product_backward(const at::Tensor& gradient, const at::Tensor& values,
                            const ProductParts& parts, bool is_wanted) {
  parts.bias_gradient.add_(gradient.sum(0, false, at::kFloat));
  add_product(parts.weight_gradient, gradient.t(), values);
  return is_wanted ? at::mm(gradient, parts.weight) : at::Tensor();
}

// Not by save_for_backward: the gradients, which are parts of one buffer, change between forward
// and backward, and that is what it forbids.
void keep(AutogradContext* context, const ProductParts& parts) {
  context->saved_data["weight"] = parts.weight;
  context->saved_data["bias"] = parts.bias;
  context->saved_data["weight_gradient"] = parts.weight_gradient;
  context->saved_data["bias_gradient"] = parts.bias_gradient;
}

ProductParts kept(AutogradContext* context) {
  const auto at_name = [context](const char* name) {
    return context->saved_data.at(name).toTensor();
  };
  return {at_name("weight"), at_name("bias"), at_name("weight_gradient"), at_name("bias_gradient")};
}

// The leaf is an input so that the result asks for a gradient; its own never comes through
// autograd.
class LinearFunction final : public torch::autograd::Function<LinearFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values, const at::Tensor&,
                            const ProductParts& parts, fused::Result result) {
    const at::Tensor given = values.to(parts.weight.scalar_type());
    context->save_for_backward({given});
    keep(context, parts);
    return product(given, parts, result);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor values = context->get_saved_variables()[0];
    const at::Tensor gradient = gradients[0].to(values.scalar_type()).contiguous();
    return {product_backward(gradient, values, kept(context), context->needs_input_grad(0)),
            {},
            {},
            {}};
  }
};

class LinearGeluFunction final : public torch::autograd::Function<LinearGeluFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values, const at::Tensor&,
                            const ProductParts& parts) {
    const at::Tensor given = values.to(parts.weight.scalar_type());
    const at::Tensor before = product(given, parts, fused::Result::kCompute);
    context->save_for_backward({given, before});
    keep(context, parts);
    return gelu_of(before);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor gradient = at::gelu_backward(gradients[0].contiguous(), saved[1], "tanh");
    return {
        product_backward(gradient, saved[0], kept(context), context->needs_input_grad(0)), {}, {}};
  }
};

ShortType short_type(const at::Tensor& values) {
  return values.scalar_type() == at::kHalf ? ShortType::kF16 : ShortType::kBf16;
}

PlacesView view_of(const at::Tensor& begins, const at::Tensor& row_of) {
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
                            std::int64_t num_heads, const at::Tensor& begins,
                            const at::Tensor& row_of, std::int64_t longest) {
    const at::Tensor parts = query_key_value.unflatten(1, {3, num_heads, -1});
    const PlacesView places = view_of(begins, row_of);
    // In place: what made these values does not look at them again.
    turn_heads(query_key_value.data_ptr(), short_type(parts), {num_heads, parts.size(3)}, places,
               current_stream(parts.device()));
    variable_list made = attend(parts.select(1, 0), parts.select(1, 1), parts.select(1, 2),
                                {begins, longest}, {begins, longest});
    const at::Tensor out = made[0].flatten(1);
    zero_behind(out, places);
    context->saved_data["longest"] = longest;
    made.insert(made.end(), {parts, begins, row_of});
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
                     view_of(begins, saved[6]), current_stream(parts.device()));
    return {joined.flatten(1), {}, {}, {}, {}};
  }
};

class CrossAttentionFunction final : public torch::autograd::Function<CrossAttentionFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& queries,
                            const at::Tensor& key_value, std::int64_t num_heads,
                            const at::Tensor& begins, const at::Tensor& row_of,
                            std::int64_t longest) {
    const std::int64_t num_rows = begins.size(0) - 1;
    const std::int64_t num_queries = queries.size(0) / num_rows;
    const at::Tensor ends = at::arange(num_rows + 1, begins.options()).mul_(num_queries);
    const at::Tensor query = queries.unflatten(1, {num_heads, -1});
    const at::Tensor parts = key_value.unflatten(1, {2, num_heads, -1});
    variable_list made = attend(query, parts.select(1, 0), parts.select(1, 1), {ends, num_queries},
                                {begins, longest});
    const at::Tensor out = made[0].flatten(1);
    context->saved_data["longest"] = longest;
    context->saved_data["num_queries"] = num_queries;
    made.insert(made.end(), {query, parts, ends, begins, row_of});
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
    zero_behind(joined, view_of(saved[7], saved[8]));
    return {query.flatten(1), joined, {}, {}, {}, {}};
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

at::Tensor attention(const at::Tensor& query_key_value, std::int64_t num_heads,
                     const PackedRows& rows) {
  if (!is_short(query_key_value.scalar_type()))
    return plain::attention(query_key_value, num_heads, rows);
  return AttentionFunction::apply(query_key_value, num_heads, rows.begins, rows.row_of,
                                  rows.longest);
}

at::Tensor cross_attention(const at::Tensor& queries, const at::Tensor& key_value,
                           std::int64_t num_heads, const PackedRows& rows) {
  if (!is_short(key_value.scalar_type()))
    return plain::cross_attention(queries, key_value, num_heads, rows);
  return CrossAttentionFunction::apply(queries, key_value, num_heads, rows.begins, rows.row_of,
                                       rows.longest);
}

}  // namespace stoker::train::kernel
