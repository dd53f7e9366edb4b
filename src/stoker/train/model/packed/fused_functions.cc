#include "stoker/train/model/packed/fused_functions.h"

#include <ATen/core/grad_mode.h>

#include "stoker/train/model/losses.h"
#include "stoker/train/model/packed/tensor_views.h"

namespace stoker::train::kernel {
namespace {

// A tensor [N, …] as N rows of bytes; copied first where a row is not dense.
at::Tensor with_dense_rows(const at::Tensor& values) {
  if (values.dim() == 2 && values.stride(1) == 1) return values;
  return values.contiguous();
}

device::Copy copy_of(const at::Tensor& values, const at::Tensor& out) {
  const auto element = static_cast<std::size_t>(values.element_size());
  const std::int64_t row_values = c10::multiply_integers(values.sizes().slice(1));
  return {.from = values.const_data_ptr(),
          .to = out.mutable_data_ptr(),
          .row_bytes = static_cast<std::size_t>(row_values) * element,
          .from_stride = static_cast<std::size_t>(values.stride(0)) * element,
          .num_from = values.size(0),
          .num_to = out.size(0)};
}

template <class Number>
at::Tensor taken(const at::Tensor& values, const at::Tensor& index) {
  std::vector<std::int64_t> sizes = values.sizes().vec();
  sizes[0] = index.numel();
  at::Tensor out = at::empty(sizes, values.options());
  if (values.size(0) == 0) return out.zero_();
  const at::Tensor from = with_dense_rows(values);
  device::copy_rows(copy_of(from, out), index.contiguous().const_data_ptr<Number>(),
                    current_stream(values.device()));
  return out;
}

class RearrangeFunction final : public torch::autograd::Function<RearrangeFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values,
                            const at::Tensor& from, const at::Tensor& to) {
    context->save_for_backward({to});
    return taken<std::int64_t>(values, from);
  }
  static Tensors backward(AutogradContext* context, const Tensors& gradients) {
    return {taken<std::int64_t>(gradients[0], context->get_saved_variables()[0]), {}, {}};
  }
};

class RepeatFunction final : public torch::autograd::Function<RepeatFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values,
                            const at::Tensor& of, const at::Tensor& begins) {
    context->save_for_backward({begins});
    return taken<std::int32_t>(values, of);
  }
  static Tensors backward(AutogradContext* context, const Tensors& gradients) {
    const at::Tensor begins = context->get_saved_variables()[0];
    const at::Tensor d_out = dense(gradients[0]);
    const at::Tensor d_values = at::empty({begins.size(0) - 1, d_out.size(1)}, d_out.options());
    device::sum_ranges({begins.const_data_ptr<std::int32_t>(), d_values.size(0), d_out.size(1)},
                       view_of(d_out), mutable_view_of(d_values), current_stream(d_out.device()));
    return {d_values, {}, {}};
  }
};

class EmbedFunction final : public torch::autograd::Function<EmbedFunction> {
 public:
  // `leaf` tells autograd that the table has a gradient.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& /*leaf*/,
                            const at::Tensor& indices, const Parameter& table,
                            fused::Result result) {
    context->save_for_backward({indices});
    hold(context, table);
    return taken<std::int64_t>(result == fused::Result::kFloat ? table.leaf : table.value(),
                               indices);
  }
  static Tensors backward(AutogradContext* context, const Tensors& gradients) {
    const at::Tensor indices = context->get_saved_variables()[0].contiguous();
    const Parameter table = held<Parameter>(context);
    const at::Tensor d_out = dense(gradients[0]);
    device::IndexSums job{.indices = indices.const_data_ptr<std::int64_t>(),
                          .num_indices = indices.numel(),
                          .num_ids = table.leaf.size(0),
                          .width = table.leaf.size(1),
                          .values = view_of(d_out),
                          .out = gradient_of(table)};
    const at::Tensor partials = empty_floats({device::index_sum_partials(job)}, d_out);
    job.partials = partials.data_ptr<float>();
    device::add_by_index(job, current_stream(d_out.device()));
    return Tensors(4);
  }
};

struct DropCall {
  fused::Dropout dropout;
  PackedRows rows;
};

at::Tensor dropped(const at::Tensor& values, const DropCall& call) {
  const at::Tensor from = readable(values);
  at::Tensor out = at::empty(from.sizes(), from.options());
  device::drop({view_of(call.rows), from.size(1), drops_of(call.dropout), view_of(from),
                mutable_view_of(out)},
               current_stream(from.device()));
  return out;
}

class DropFunction final : public torch::autograd::Function<DropFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values,
                            const DropCall& call) {
    hold(context, call);
    return dropped(values, call);
  }
  static Tensors backward(AutogradContext* context, const Tensors& gradients) {
    return {dropped(gradients[0], held<DropCall>(context)), {}};
  }
};

struct UnfoldCall {
  fused::Unfolding unfolding;
  PackedRows from;
  PackedRows to;

  device::Unfold job(std::int64_t width) const {
    return {view_of(from), view_of(to), width, unfolding.kernel, unfolding.stride};
  }
};

class UnfoldFunction final : public torch::autograd::Function<UnfoldFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values,
                            const UnfoldCall& call) {
    hold(context, call);
    const at::Tensor from = with_dense_rows(values);
    const device::Unfold job = call.job(from.size(1));
    at::Tensor out = at::empty({call.to.num_places(), job.width * job.kernel}, from.options());
    device::unfold(job, view_of(from), mutable_view_of(out), current_stream(from.device()));
    return out;
  }
  static Tensors backward(AutogradContext* context, const Tensors& gradients) {
    const auto call = held<UnfoldCall>(context);
    const at::Tensor d_out = dense(gradients[0]);
    const device::Unfold job = call.job(d_out.size(1) / call.unfolding.kernel);
    const at::Tensor d_values = at::empty({call.from.num_places(), job.width}, d_out.options());
    device::unfold_gradient(job, view_of(d_out), mutable_view_of(d_values),
                            current_stream(d_out.device()));
    return {d_values, {}};
  }
};

device::SquaredError error_of(const at::Tensor& prediction, const at::Tensor& target,
                              const at::Tensor& weight) {
  return {.prediction = view_of(prediction),
          .target = target.const_data_ptr<float>(),
          .weight = weight.const_data_ptr<float>(),
          .num_places = prediction.size(0),
          .width = prediction.size(1)};
}

class ErrorFunction final : public torch::autograd::Function<ErrorFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& prediction,
                            const at::Tensor& target, const at::Tensor& weight) {
    const at::Tensor from = dense(prediction);
    context->save_for_backward({from, target, weight});
    const at::Tensor partials = empty_floats({device::kErrorPartials}, from);
    at::Tensor sum = empty_floats({}, from);
    device::squared_error(error_of(from, target, weight), partials.data_ptr<float>(),
                          sum.data_ptr<float>(), current_stream(from.device()));
    return sum;
  }
  static Tensors backward(AutogradContext* context, const Tensors& gradients) {
    const Tensors saved = context->get_saved_variables();
    const at::Tensor d_sum = gradients[0].contiguous();
    const at::Tensor d_prediction = at::empty(saved[0].sizes(), saved[0].options());
    device::squared_error_gradient(error_of(saved[0], saved[1], saved[2]),
                                   d_sum.const_data_ptr<float>(), mutable_view_of(d_prediction),
                                   current_stream(d_sum.device()));
    return {d_prediction, {}, {}};
  }
};

}  // namespace

at::Tensor embed(const at::Tensor& indices, const Parameter& table, fused::Result result) {
  return EmbedFunction::apply(table.leaf, indices, table, result);
}

at::Tensor drop(const at::Tensor& values, const fused::Dropout& dropout, const PackedRows& rows) {
  return DropFunction::apply(values, DropCall{dropout, rows});
}

at::Tensor unfold(const at::Tensor& values, const fused::Unfolding& unfolding,
                  const PackedRows& from, const PackedRows& to) {
  return UnfoldFunction::apply(values, UnfoldCall{unfolding, from, to});
}

at::Tensor repeat(const at::Tensor& values, const fused::Repeat& repeat) {
  return RepeatFunction::apply(values, repeat.of, repeat.begins);
}

fused::FlowPoint flow_point(const at::Tensor& mel, const at::Tensor& time, const StepKey& key,
                            const PackedRows& rows, at::ScalarType compute) {
  const at::Tensor values = dense(mel);
  const at::Tensor times = time.contiguous();
  fused::FlowPoint out{at::empty(mel.sizes(), mel.options().dtype(compute)),
                       empty_floats(mel.sizes(), mel)};
  device::flow_point({.rows = view_of(rows),
                      .longest = rows.longest,
                      .width = mel.size(1),
                      .draws = late_draws({key, kNoiseDraws}),
                      .least_noise = static_cast<float>(kLeastNoise),
                      .mel = values.const_data_ptr<float>(),
                      .time = times.const_data_ptr<float>(),
                      .noisy = mutable_view_of(out.noisy),
                      .velocity = out.velocity.data_ptr<float>()},
                     current_stream(mel.device()));
  return out;
}

at::Tensor squared_error(const at::Tensor& prediction, const at::Tensor& target,
                         const at::Tensor& weight) {
  return ErrorFunction::apply(prediction, dense(target.to(at::kFloat)), weight.contiguous());
}

PackedRows pack_rows(const at::Tensor& lengths, std::int64_t num_places, std::int64_t longest) {
  const at::Tensor all = lengths.contiguous();
  const auto options = lengths.options().dtype(at::kInt);
  PackedRows rows{at::empty({lengths.size(0) + 1}, options), at::empty({num_places}, options),
                  longest};
  device::pack_rows({.lengths = all.const_data_ptr<std::int64_t>(),
                     .num_rows = rows.num_rows(),
                     .num_places = num_places,
                     .begins = rows.begins.data_ptr<std::int32_t>(),
                     .row_of = rows.row_of.data_ptr<std::int32_t>()},
                    current_stream(lengths.device()));
  return rows;
}

at::Tensor place_in_row(const PackedRows& rows) {
  at::Tensor out = at::empty({rows.num_places()}, rows.row_of.options().dtype(at::kLong));
  device::place_in_row(view_of(rows), out.data_ptr<std::int64_t>(), current_stream(out.device()));
  return out;
}

at::Tensor pad_rows(const at::Tensor& values, const PackedRows& rows) {
  const at::NoGradGuard no_gradient;
  std::vector<std::int64_t> sizes = values.sizes().vec();
  sizes[0] = rows.num_rows() * rows.longest;
  const at::Tensor out = at::empty(sizes, values.options());
  const at::Tensor from = with_dense_rows(values);
  if (out.numel() > 0) {
    device::pad_rows(copy_of(from, out), view_of(rows), rows.longest,
                     current_stream(values.device()));
  }
  return out.unflatten(0, {rows.num_rows(), rows.longest});
}

at::Tensor join_rows(const at::Tensor& padded, const PackedRows& rows) {
  const at::NoGradGuard no_gradient;
  const at::Tensor from = padded.contiguous().flatten(0, 1);
  std::vector<std::int64_t> sizes = from.sizes().vec();
  sizes[0] = rows.num_places();
  at::Tensor out = at::empty(sizes, from.options());
  if (from.size(0) == 0) return out.zero_();
  device::join_rows(copy_of(from, out), view_of(rows), rows.longest, current_stream(from.device()));
  return out;
}

at::Tensor rearrange(const at::Tensor& values, const Rearrangement& way) {
  if (!values.requires_grad() || !way.to.defined()) return taken<std::int64_t>(values, way.from);
  return RearrangeFunction::apply(values, way.from, way.to);
}

}  // namespace stoker::train::kernel
