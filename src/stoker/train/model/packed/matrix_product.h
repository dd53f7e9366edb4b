// Products of matrices with bias and GELU in the same kernel, by cuBLASLt, which libtorch brings;
// shows nothing of either.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/cuda/stream.h"

namespace stoker::train {

enum class MatrixType { kF32, kBf16, kF16 };

// Row by row, dense; `is_turned` means the product reads it with rows and columns exchanged.
struct MatrixView {
  const void* data = nullptr;
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  bool is_turned = false;
};

enum class Epilogue {
  kNone,
  kBias,      // + bias [columns]
  kBiasGelu,  // GELU (tanh) of that; what it is of goes to `before` [rows, columns]
};

// out = left · right, summed in fp32. Factors and `before` have the type `type`, bias that of the
// result.
struct MatrixProduct {
  MatrixView left, right;
  MatrixType type = MatrixType::kBf16;  // not kF32
  void* out = nullptr;
  MatrixType out_type = MatrixType::kBf16;
  bool is_added = false;  // to what `out` holds
  Epilogue epilogue = Epilogue::kNone;
  void* bias = nullptr;
  void* before = nullptr;
  void* workspace = nullptr;  // device memory of kProductWorkspaceBytes
};

inline constexpr std::size_t kProductWorkspaceBytes = std::size_t{32} << 20U;

// From any thread; asynchronous; sums run in an order that is the same every time. GpuError,
// E-TRAIN-FAILED where the library is not there or knows no kernel for it.
void multiply(const MatrixProduct& product, cuda::StreamView on);

}  // namespace stoker::train
