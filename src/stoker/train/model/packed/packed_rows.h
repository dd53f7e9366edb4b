// Rows of different length laid end to end, without padding between them: where each is, in memory
// of the model's device, so that a step needs no word from the host.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace stoker::train {

// [N, C] values with N fixed: what is behind the last row belongs to none. Kernels write zeros
// there, and nothing of it reaches a row, a loss or a gradient.
struct PackedRows {
  at::Tensor begins;         // i32 [B + 1], ascending; a row may be empty
  at::Tensor row_of;         // i32 [N]; B behind the last row
  std::int64_t longest = 0;  // no row is longer; known to the host

  std::int64_t num_rows() const { return begins.size(0) - 1; }
  std::int64_t num_places() const { return row_of.size(0); }
};

// From i64 [B] lengths whose sum is at most `num_places`.
PackedRows pack_rows(const at::Tensor& lengths, std::int64_t num_places, std::int64_t longest);

// Each place gets what its row has, [B, …] to [N, …]; behind the last row, what the last row has.
at::Tensor of_rows(const at::Tensor& values, const PackedRows& rows);
// Place of each value within its row, i64 [N]; 0 behind the last row.
at::Tensor place_in_row(const PackedRows& rows);
// bool [N]: whether a value belongs to a row.
at::Tensor is_within(const PackedRows& rows);
// Values [N, …] as [B, longest, …]; zeros behind each row's end.
at::Tensor pad_rows(const at::Tensor& values, const PackedRows& rows);
// Back again, [B, longest, …] to [N, …]; zeros behind the last row.
at::Tensor join_rows(const at::Tensor& padded, const PackedRows& rows);

// Each value goes to one place at most: out[i] = values[from[i]], and its gradient the way back.
struct Rearrangement {
  at::Tensor from;  // i64 [N']; -1: zeros
  at::Tensor to;    // i64 [N]; -1: it goes nowhere
};
at::Tensor rearrange(const at::Tensor& values, const Rearrangement& way);

}  // namespace stoker::train
