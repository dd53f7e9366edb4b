// The norms of the packed model as one differentiable function: what joins the residual, the norm,
// and what it is multiplied with and shifted by.
#include "stoker/train/model/packed/fused_functions.h"
#include "stoker/train/model/packed/tensor_views.h"

namespace stoker::train::kernel {
namespace {

using device::Joining;

// All but the tensors that have gradients of their own.
struct NormCall {
  PackedRows rows{};
  Joining joining = Joining::kNone;
  at::ScalarType compute = at::kFloat;
  fused::Dropout dropout{};
  bool is_learned = false;  // factor and shift are `weight` and `bias`, else of each row
  Parameter weight{};
  Parameter bias{};
};

struct NormGradients {
  at::Tensor input;
  at::Tensor branch;
  at::Tensor gate;
  at::Tensor factor;
  at::Tensor shift;
};

// Gradients of rows, or those of parameters, to which is added.
void write_sums_to(device::NormGradient& job, const NormCall& call, NormGradients& out,
                   const at::Tensor& like) {
  const std::int64_t num_rows = call.rows.num_rows();
  if (call.is_learned) {
    job.d_factor = gradient_of(call.weight);
    job.d_shift = gradient_of(call.bias);
  } else {
    out.factor = empty_floats({num_rows, job.width}, like);
    out.shift = empty_floats({num_rows, job.width}, like);
    job.d_factor = out.factor.data_ptr<float>();
    job.d_shift = out.shift.data_ptr<float>();
  }
  if (call.joining != Joining::kGated) return;
  out.gate = empty_floats({num_rows, job.width}, like);
  job.d_gate = out.gate.data_ptr<float>();
}

// `saved` are the normed values, their statistics, factor, branch and gate.
NormGradients gradients_of(const NormCall& call, const Tensors& saved, const at::Tensor& d_sum,
                           const at::Tensor& d_norm) {
  const at::Tensor& sum = saved[0];
  NormGradients out;
  device::NormGradient job{.rows = view_of(call.rows),
                           .width = sum.size(1),
                           .joining = call.joining,
                           .sum = view_of(sum),
                           .stats = saved[1].const_data_ptr<float>(),
                           .factor = of_rows(saved[2]),
                           .drops = drops_of(call.dropout)};
  out.input = at::empty(sum.sizes(), sum.options());
  job.d_input = mutable_view_of(out.input);
  job.d_norm.type = value_type(call.compute);
  if (d_norm.defined()) job.d_norm = view_of(d_norm);
  if (d_sum.defined()) job.d_sum = d_sum.const_data_ptr<float>();
  if (call.joining != Joining::kNone) {
    out.branch = at::empty(sum.sizes(), sum.options().dtype(call.compute));
    job.d_branch = mutable_view_of(out.branch);
  }
  if (call.joining == Joining::kGated) {
    job.branch = view_of(saved[3]);
    job.gate = of_rows(saved[4]);
  }
  write_sums_to(job, call, out, sum);
  const at::Tensor partials = empty_floats({device::norm_gradient_partials(job)}, sum);
  job.partials = partials.data_ptr<float>();
  device::norm_gradient(job, current_stream(sum.device()));
  return out;
}

at::Tensor dense_or_none(const at::Tensor& gradient) {
  return gradient.defined() ? dense(gradient) : gradient;
}

// Of residual, factor and shift, then of branch and gate where the call has them. Gives the sum,
// where there is a branch, and the norm.
class NormFunction final : public torch::autograd::Function<NormFunction> {
 public:
  static Tensors forward(AutogradContext* context, const at::TensorList& inputs,
                         const NormCall& call) {
    context->set_materialize_grads(false);
    Tensors from;
    for (const at::Tensor& input : inputs) from.push_back(readable(input));
    const bool is_joined = call.joining != Joining::kNone;
    const bool is_gated = call.joining == Joining::kGated;
    const at::Tensor& values = from[0];
    const at::Tensor stats = empty_floats({values.size(0), 2}, values);
    const at::Tensor norm = at::empty(values.sizes(), values.options().dtype(call.compute));
    device::Norm job{.rows = view_of(call.rows),
                     .width = values.size(1),
                     .joining = call.joining,
                     .input = view_of(values),
                     .drops = drops_of(call.dropout),
                     .factor = of_rows(from[1]),
                     .shift = of_rows(from[2]),
                     .stats = stats.data_ptr<float>(),
                     .norm = mutable_view_of(norm)};
    at::Tensor sum = values;
    if (is_joined) {
      sum = empty_floats(values.sizes(), values);
      job.branch = view_of(from[3]);
      job.sum = sum.data_ptr<float>();
    }
    if (is_gated) job.gate = of_rows(from[4]);
    device::norm(job, current_stream(values.device()));
    const at::Tensor none;
    context->save_for_backward(
        {sum, stats, from[1], is_gated ? from[3] : none, is_gated ? from[4] : none});
    hold(context, call);
    if (is_joined) return {sum, norm};
    return {norm};
  }

  static Tensors backward(AutogradContext* context, const Tensors& gradients) {
    const auto call = held<NormCall>(context);
    const bool is_joined = call.joining != Joining::kNone;
    const at::Tensor d_sum = is_joined ? dense_or_none(gradients[0]) : at::Tensor();
    const at::Tensor d_norm = dense_or_none(gradients.back());
    NormGradients out;
    if (d_sum.defined() || d_norm.defined())
      out = gradients_of(call, context->get_saved_variables(), d_sum, d_norm);
    Tensors all{out.input, out.factor, out.shift};
    if (is_joined) all.push_back(out.branch);
    if (call.joining == Joining::kGated) all.push_back(out.gate);
    all.emplace_back();  // of the call
    return all;
  }
};

Tensors normed(const Tensors& inputs, const NormCall& call) {
  return NormFunction::apply(at::TensorList(inputs), call);
}

NormCall learned(const PackedRows& rows, const Parameter& weight, const Parameter& bias) {
  return {.rows = rows,
          .compute = weight.value().scalar_type(),
          .is_learned = true,
          .weight = weight,
          .bias = bias};
}

void check_residual(const at::Tensor& residual, const at::Tensor& branch, at::ScalarType compute) {
  check_invariant(residual.scalar_type() == at::kFloat, "a residual is f32");
  check_invariant(branch.scalar_type() == compute, "a branch has the type of computation");
}

}  // namespace

at::Tensor norm_modulate(const at::Tensor& residual, const fused::Modulation& by,
                         const PackedRows& rows, at::ScalarType compute) {
  return normed({residual, by.factor, by.shift}, {.rows = rows, .compute = compute})[0];
}

fused::SumAndNorm add_norm_modulate(const at::Tensor& residual, const at::Tensor& branch,
                                    const at::Tensor& gate, const fused::Modulation& by,
                                    const PackedRows& rows) {
  const NormCall call{.rows = rows, .joining = Joining::kGated, .compute = branch.scalar_type()};
  check_residual(residual, branch, call.compute);
  const Tensors both = normed({residual, by.factor, by.shift, branch, gate}, call);
  return {both[0], both[1]};
}

at::Tensor layer_norm(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                      const PackedRows& rows) {
  return normed({values, weight.leaf, bias.leaf}, learned(rows, weight, bias))[0];
}

fused::SumAndNorm add_dropped_norm(const at::Tensor& residual, const at::Tensor& branch,
                                   const fused::Dropout& dropout, const Parameter& weight,
                                   const Parameter& bias, const PackedRows& rows) {
  NormCall call = learned(rows, weight, bias);
  call.joining = Joining::kDropped;
  call.dropout = dropout;
  check_residual(residual, branch, call.compute);
  const Tensors both = normed({residual, weight.leaf, bias.leaf, branch}, call);
  return {both[0], both[1]};
}

}  // namespace stoker::train::kernel
