// The kernels of the packed model on plain pointers, so that they compile without libtorch. Each
// call is asynchronous, allocates nothing, asks the host nothing and may be recorded in a graph;
// each sum has a fixed order. They throw GpuError.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stoker/cuda/stream.h"
#include "stoker/train/model/draw_value.h"

namespace stoker::train::device {

enum class ValueType { kF32, kBf16, kF16 };

// [N, C]: the values of a place are dense; `stride` values from one place to the next. Where four
// values are read at once, data and stride are multiples of that.
struct Values {
  void* data = nullptr;
  ValueType type = ValueType::kF32;
  std::int64_t stride = 0;
};
struct ConstValues {
  const void* data = nullptr;
  ValueType type = ValueType::kF32;
  std::int64_t stride = 0;
};

// As PackedRows.
struct Rows {
  const std::int32_t* begins = nullptr;  // [num_rows + 1]
  const std::int32_t* row_of = nullptr;  // [num_places]
  std::int64_t num_rows = 0;
  std::int64_t num_places = 0;
};

// f32 [B, C]; a stride of 0 is the same for all rows.
struct OfRows {
  const float* data = nullptr;
  std::int64_t stride = 0;
};

// Value c of place i of row r is kept where draw (r, i * C + c) is at least `rate`.
struct Drops {
  LateDraws draws{};
  float rate = 0;
  float factor = 1;  // of what is kept
};

// --- norms_cuda.cu, norm_gradients_cuda.cu. Widths are multiples of 4 up to kWidestNorm.

inline constexpr std::int64_t kWidestNorm = 1024;

// How a branch joins the residual before the norm.
enum class Joining { kNone, kGated, kDropped };

// sum = input + branch * gate (or dropped); norm = (sum - mean) / deviation * factor + shift.
struct Norm {
  Rows rows{};
  std::int64_t width = 0;
  Joining joining = Joining::kNone;
  ConstValues input{};   // f32 with a branch
  ConstValues branch{};  // type of the norm
  OfRows gate{};
  Drops drops{};
  OfRows factor{};
  OfRows shift{};
  float* sum = nullptr;    // [N, C] with a branch
  float* stats = nullptr;  // [N, 2]: mean and 1 / deviation, for the gradient
  Values norm{};
};
void norm(const Norm& job, cuda::StreamView on);

// Gradients of it. Factor and shift the same for all rows: their gradients are added to [C];
// otherwise those of rows are written to [B, C], as the gate's.
struct NormGradient {
  Rows rows{};
  std::int64_t width = 0;
  Joining joining = Joining::kNone;
  ConstValues sum{};  // what was normed
  const float* stats = nullptr;
  OfRows factor{};
  ConstValues branch{};  // gated
  OfRows gate{};
  Drops drops{};
  ConstValues d_norm{};          // no data: zeros
  const float* d_sum = nullptr;  // [N, C]; none: zeros
  Values d_input{};              // type of `sum`
  Values d_branch{};             // type of d_norm
  float* d_factor = nullptr;
  float* d_shift = nullptr;
  float* d_gate = nullptr;
  float* partials = nullptr;  // of norm_gradient_partials() values
};
std::int64_t norm_gradient_partials(const NormGradient& job);
void norm_gradient(const NormGradient& job, cuda::StreamView on);

// values * kept; its gradient is the same of a gradient. Zeros behind the last row.
struct Dropping {
  Rows rows{};
  std::int64_t width = 0;  // a multiple of 4
  Drops drops{};
  ConstValues values{};
  Values out{};
};
void drop(const Dropping& job, cuda::StreamView on);

// --- gathers_cuda.cu, index_sums_cuda.cu

// Rows of bytes; strides in bytes.
struct Copy {
  const void* from = nullptr;
  void* to = nullptr;  // dense
  std::size_t row_bytes = 0;
  std::size_t from_stride = 0;
  std::int64_t num_from = 0;
  std::int64_t num_to = 0;
};
// to[i] = from[index[i]]; zeros where there is no such row.
void copy_rows(const Copy& job, const std::int64_t* index, cuda::StreamView on);
void copy_rows(const Copy& job, const std::int32_t* index, cuda::StreamView on);
// [N, …] to [B, longest, …] and back.
void pad_rows(const Copy& job, const Rows& rows, std::int64_t longest, cuda::StreamView on);
void join_rows(const Copy& job, const Rows& rows, std::int64_t longest, cuda::StreamView on);

struct Packing {
  const std::int64_t* lengths = nullptr;  // [num_rows]
  std::int64_t num_rows = 0;
  std::int64_t num_places = 0;
  std::int32_t* begins = nullptr;
  std::int32_t* row_of = nullptr;
};
void pack_rows(const Packing& job, cuda::StreamView on);
void place_in_row(const Rows& rows, std::int64_t* out, cuda::StreamView on);

// Column c * kernel + j of place i is value c of place i * step + j - kernel / 2 of its row, or 0.
struct Unfold {
  Rows from{};
  Rows to{};
  std::int64_t width = 0;
  std::int64_t kernel = 1;
  std::int64_t step = 1;
};
void unfold(const Unfold& job, const ConstValues& values, const Values& out, cuda::StreamView on);
void unfold_gradient(const Unfold& job, const ConstValues& d_out, const Values& d_values,
                     cuda::StreamView on);

// out[t] = sum of values[begins[t]] … values[begins[t + 1] - 1].
struct RangeSums {
  const std::int32_t* begins = nullptr;  // [num_ranges + 1]
  std::int64_t num_ranges = 0;
  std::int64_t width = 0;
};
void sum_ranges(const RangeSums& job, const ConstValues& values, const Values& out,
                cuda::StreamView on);

// out[indices[i]] += values[i]; indices outside of the table are left out.
struct IndexSums {
  const std::int64_t* indices = nullptr;
  std::int64_t num_indices = 0;
  std::int64_t num_ids = 0;
  std::int64_t width = 0;  // a multiple of 4, at most kWidestNorm
  ConstValues values{};
  float* out = nullptr;       // [num_ids, width]
  float* partials = nullptr;  // of index_sum_partials() values
};
std::int64_t index_sum_partials(const IndexSums& job);
void add_by_index(const IndexSums& job, cuda::StreamView on);

// --- flow_cuda.cu

// noisy = noise * (1 - (1 - least) * time) + mel * time; velocity = mel - (1 - least) * noise.
struct Flow {
  Rows rows{};
  std::int64_t longest = 0;
  std::int64_t width = 0;
  LateDraws draws{};
  float least_noise = 0;  // left at time 1
  const float* mel = nullptr;
  const float* time = nullptr;  // [B]
  Values noisy{};
  float* velocity = nullptr;
};
void flow_point(const Flow& job, cuda::StreamView on);

// Sum of weight[i] * (prediction[i, c] - target[i, c])^2, and 2 * weight * difference * d_sum.
struct SquaredError {
  ConstValues prediction{};
  const float* target = nullptr;  // [N, C]
  const float* weight = nullptr;  // [N]
  std::int64_t num_places = 0;
  std::int64_t width = 0;
};
inline constexpr std::int64_t kErrorPartials = 1024;
void squared_error(const SquaredError& job, float* partials, float* sum, cuda::StreamView on);
void squared_error_gradient(const SquaredError& job, const float* d_sum, const Values& out,
                            cuda::StreamView on);

// --- activations_cuda.cu

// out[c] += sum over all places.
struct ColumnSums {
  ConstValues values{};
  std::int64_t num_places = 0;
  std::int64_t width = 0;
  float* out = nullptr;
  float* partials = nullptr;  // of column_sum_partials() values
};
std::int64_t column_sum_partials(const ColumnSums& job);
void add_column_sums(const ColumnSums& job, cuda::StreamView on);

// The gradient of GELU (tanh) of dense [N, C], and the column sums of what it gives, in one pass.
void gelu_backward_with_sums(const ColumnSums& sums, const void* u, const void* d_g, void* d_u,
                             cuda::StreamView on);

}  // namespace stoker::train::device
