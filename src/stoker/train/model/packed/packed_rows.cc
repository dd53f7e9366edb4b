#include "stoker/train/model/packed/packed_rows.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

#include "stoker/train/model/packed/fused_functions.h"

namespace stoker::train {
namespace {

// `values` [K, …] at `index`; zeros where `is_there` is false, whatever the index is then.
at::Tensor take(const at::Tensor& values, const at::Tensor& index, const at::Tensor& is_there) {
  if (values.size(0) == 0) {
    std::vector<std::int64_t> sizes = values.sizes().vec();
    sizes[0] = index.numel();
    return at::zeros(sizes, values.options());
  }
  const at::Tensor taken = values.index_select(0, index.clamp(0, values.size(0) - 1).flatten());
  std::vector<std::int64_t> one_each(static_cast<std::size_t>(values.dim()), 1);
  one_each[0] = index.numel();
  return taken.masked_fill(is_there.logical_not().view(one_each), 0);
}

bool has_gradient(const at::Tensor& values) {
  return at::GradMode::is_enabled() && values.requires_grad();
}

class Rearrange final : public torch::autograd::Function<Rearrange> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& values,
                            const at::Tensor& from, const at::Tensor& to) {
    context->save_for_backward({to});
    return take(values, from, from.ge(0));
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const at::Tensor to = context->get_saved_variables()[0];
    return {take(gradients[0], to, to.ge(0)), {}, {}};
  }
};

}  // namespace

PackedRows pack_rows(const at::Tensor& lengths, std::int64_t num_places, std::int64_t longest) {
  if (lengths.is_cuda()) return kernel::pack_rows(lengths, num_places, longest);
  const at::Tensor ends = lengths.cumsum(0);
  const at::Tensor places = at::arange(num_places, lengths.options());
  return {at::constant_pad_nd(ends, {1, 0}).to(at::kInt),
          at::searchsorted(ends, places, /*out_int32=*/true, /*right=*/true), longest};
}

at::Tensor of_rows(const at::Tensor& values, const PackedRows& rows) {
  return values.index_select(0, rows.row_of.clamp_max(rows.num_rows() - 1));
}

at::Tensor place_in_row(const PackedRows& rows) {
  if (rows.row_of.is_cuda()) return kernel::place_in_row(rows);
  const at::Tensor begin =
      rows.begins.index_select(0, rows.row_of.clamp_max(rows.num_rows())).to(at::kLong);
  const at::Tensor places = at::arange(rows.num_places(), begin.options()) - begin;
  return places.masked_fill(is_within(rows).logical_not(), 0);
}

at::Tensor is_within(const PackedRows& rows) { return rows.row_of.lt(rows.num_rows()); }

at::Tensor pad_rows(const at::Tensor& values, const PackedRows& rows) {
  if (values.is_cuda() && !has_gradient(values)) return kernel::pad_rows(values, rows);
  const at::Tensor begins = rows.begins.to(at::kLong);
  const at::Tensor first = begins.narrow(0, 0, rows.num_rows()).unsqueeze(1);
  const at::Tensor end = begins.narrow(0, 1, rows.num_rows()).unsqueeze(1);
  const at::Tensor index = first + at::arange(rows.longest, begins.options());
  return take(values, index, index.lt(end)).unflatten(0, {rows.num_rows(), rows.longest});
}

at::Tensor join_rows(const at::Tensor& padded, const PackedRows& rows) {
  if (padded.is_cuda() && !has_gradient(padded)) return kernel::join_rows(padded, rows);
  const at::Tensor index = rows.row_of.to(at::kLong) * rows.longest + place_in_row(rows);
  return take(padded.flatten(0, 1), index, is_within(rows));
}

at::Tensor rearrange(const at::Tensor& values, const Rearrangement& way) {
  if (values.is_cuda()) return kernel::rearrange(values, way);
  if (!values.requires_grad()) return take(values, way.from, way.from.ge(0));
  return Rearrange::apply(values, way.from, way.to);
}

}  // namespace stoker::train
