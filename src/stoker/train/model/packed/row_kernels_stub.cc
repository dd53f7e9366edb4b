#include "stoker/cuda/errors.h"
#include "stoker/train/model/packed/row_kernels.h"

namespace stoker::train::device {
namespace {

[[noreturn]] void refuse() {
  raise({.code = &cuda::kCudaNone, .found = "this stoker is built without CUDA"});
}

}  // namespace

void norm(const Norm&, cuda::StreamView) { refuse(); }
std::int64_t norm_gradient_partials(const NormGradient&) { return 0; }
void norm_gradient(const NormGradient&, cuda::StreamView) { refuse(); }
void drop(const Dropping&, cuda::StreamView) { refuse(); }

void copy_rows(const Copy&, const std::int64_t*, cuda::StreamView) { refuse(); }
void copy_rows(const Copy&, const std::int32_t*, cuda::StreamView) { refuse(); }
void pad_rows(const Copy&, const Rows&, std::int64_t, cuda::StreamView) { refuse(); }
void join_rows(const Copy&, const Rows&, std::int64_t, cuda::StreamView) { refuse(); }
void pack_rows(const Packing&, cuda::StreamView) { refuse(); }
void place_in_row(const Rows&, std::int64_t*, cuda::StreamView) { refuse(); }

void unfold(const Unfold&, const ConstValues&, const Values&, cuda::StreamView) { refuse(); }
void unfold_gradient(const Unfold&, const ConstValues&, const Values&, cuda::StreamView) {
  refuse();
}
void sum_ranges(const RangeSums&, const ConstValues&, const Values&, cuda::StreamView) { refuse(); }
std::int64_t index_sum_partials(const IndexSums&) { return 0; }
void add_by_index(const IndexSums&, cuda::StreamView) { refuse(); }

void flow_point(const Flow&, cuda::StreamView) { refuse(); }
void squared_error(const SquaredError&, float*, float*, cuda::StreamView) { refuse(); }
void squared_error_gradient(const SquaredError&, const float*, const Values&, cuda::StreamView) {
  refuse();
}

std::int64_t column_sum_partials(const ColumnSums&) { return 0; }
void add_column_sums(const ColumnSums&, cuda::StreamView) { refuse(); }
void gelu_backward_with_sums(const ColumnSums&, const void*, const void*, void*, cuda::StreamView) {
  refuse();
}

}  // namespace stoker::train::device
