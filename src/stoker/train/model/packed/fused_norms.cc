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

// Gives the sum, where there is a branch, and the norm.
class NormFunction final : public torch::autograd::Function<NormFunction> {
 public:
  static Tensors forward(AutogradContext* context, const at::Tensor& input,
                         const at::Tensor& branch, const at::Tensor& gate, const at::Tensor& factor,
                         const at::Tensor& shift, const NormCall& call) {
    context->set_materialize_grads(false);
    const at::Tensor from = readable(input);
    const at::Tensor by = readable(factor);
    const at::Tensor plus = readable(shift);
    const at::Tensor added = branch.defined() ? readable(branch) : branch;
    const at::Tensor gate_values = gate.defined() ? readable(gate) : gate;
    const at::Tensor stats = empty_floats({from.size(0), 2}, from);
    const at::Tensor norm = at::empty(from.sizes(), from.options().dtype(call.compute));
    const at::Tensor sum = branch.defined() ? empty_floats(from.sizes(), from) : at::Tensor();
    device::Norm job{.rows = view_of(call.rows),
                     .width = from.size(1),
                     .joining = call.joining,
                     .input = view_of(from),
                     .drops = drops_of(call.dropout),
                     .factor = of_rows(by),
                     .shift = of_rows(plus),
                     .stats = stats.data_ptr<float>(),
                     .norm = mutable_view_of(norm)};
    if (branch.defined()) {
      job.branch = view_of(added);
      job.sum = sum.data_ptr<float>();
    }
    if (gate.defined()) job.gate = of_rows(gate_values);
    device::norm(job, current_stream(from.device()));
    const bool is_gated = call.joining == Joining::kGated;
    context->save_for_backward(
        {branch.defined() ? sum : from, stats, by, is_gated ? added : at::Tensor(), gate_values});
    hold(context, call);
    if (branch.defined()) return {sum, norm};
    return {norm};
  }

  static Tensors backward(AutogradContext* context, const Tensors& gradients) {
    const NormCall call = held<NormCall>(context);
    const bool is_joined = call.joining != Joining::kNone;
    const at::Tensor d_sum = is_joined ? dense_or_none(gradients[0]) : at::Tensor();
    const at::Tensor d_norm = dense_or_none(gradients.back());
    if (!d_sum.defined() && !d_norm.defined()) return Tensors(6);
    NormGradients out = gradients_of(call, context->get_saved_variables(), d_sum, d_norm);
    return {out.input, out.branch, out.gate, out.factor, out.shift, {}};
  }
};

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
  const NormCall call{.rows = rows, .compute = compute};
  return NormFunction::apply(residual, at::Tensor(), at::Tensor(), by.factor, by.shift, call)[0];
}

fused::SumAndNorm add_norm_modulate(const at::Tensor& residual, const at::Tensor& branch,
                                    const at::Tensor& gate, const fused::Modulation& by,
                                    const PackedRows& rows) {
  const NormCall call{.rows = rows, .joining = Joining::kGated, .compute = branch.scalar_type()};
  check_residual(residual, branch, call.compute);
  const Tensors both = NormFunction::apply(residual, branch, gate, by.factor, by.shift, call);
  return {both[0], both[1]};
}

at::Tensor layer_norm(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                      const PackedRows& rows) {
  return NormFunction::apply(values, at::Tensor(), at::Tensor(), weight.leaf, bias.leaf,
                             learned(rows, weight, bias))[0];
}

fused::SumAndNorm add_dropped_norm(const at::Tensor& residual, const at::Tensor& branch,
                                   const fused::Dropout& dropout, const Parameter& weight,
                                   const Parameter& bias, const PackedRows& rows) {
  NormCall call = learned(rows, weight, bias);
  call.joining = Joining::kDropped;
  call.dropout = dropout;
  check_residual(residual, branch, call.compute);
  const Tensors both =
      NormFunction::apply(residual, branch, at::Tensor(), weight.leaf, bias.leaf, call);
  return {both[0], both[1]};
}

}  // namespace stoker::train::kernel
