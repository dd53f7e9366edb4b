// The functions of fused_ops.h and packed_rows.h on a GPU, by the kernels of row_kernels.h; the
// same names and meanings.
#pragma once

#include "stoker/train/model/packed/fused_ops.h"

namespace stoker::train::kernel {

at::Tensor embed(const at::Tensor& indices, const Parameter& table, fused::Result result);
at::Tensor norm_modulate(const at::Tensor& residual, const fused::Modulation& by,
                         const PackedRows& rows, at::ScalarType compute);
fused::SumAndNorm add_norm_modulate(const at::Tensor& residual, const at::Tensor& branch,
                                    const at::Tensor& gate, const fused::Modulation& by,
                                    const PackedRows& rows);
at::Tensor layer_norm(const at::Tensor& values, const Parameter& weight, const Parameter& bias,
                      const PackedRows& rows);
fused::SumAndNorm add_dropped_norm(const at::Tensor& residual, const at::Tensor& branch,
                                   const fused::Dropout& dropout, const Parameter& weight,
                                   const Parameter& bias, const PackedRows& rows);
at::Tensor drop(const at::Tensor& values, const fused::Dropout& dropout, const PackedRows& rows);
at::Tensor unfold(const at::Tensor& values, const fused::Unfolding& unfolding,
                  const PackedRows& from, const PackedRows& to);
at::Tensor repeat(const at::Tensor& values, const fused::Repeat& repeat);
fused::FlowPoint flow_point(const at::Tensor& mel, const at::Tensor& time, const StepKey& key,
                            const PackedRows& rows, at::ScalarType compute);
at::Tensor squared_error(const at::Tensor& prediction, const at::Tensor& target,
                         const at::Tensor& weight);

PackedRows pack_rows(const at::Tensor& lengths, std::int64_t num_places, std::int64_t longest);
at::Tensor place_in_row(const PackedRows& rows);
// Without gradient.
at::Tensor pad_rows(const at::Tensor& values, const PackedRows& rows);
at::Tensor join_rows(const at::Tensor& padded, const PackedRows& rows);
at::Tensor rearrange(const at::Tensor& values, const Rearrangement& way);

}  // namespace stoker::train::kernel
