// Batches for other libraries without a copy: the DLPack structures that PyTorch, JAX and CuPy
// read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "stoker/cuda/stream.h"
#include "stoker/feed/batch.h"

namespace stoker::feed {

// The binary interface of DLPack 0.8 (DLManagedTensor and its parts), field by field.
struct DlDevice {
  std::int32_t type = 1;  // 1: CPU, 2: CUDA
  std::int32_t index = 0;
};
struct DlDataType {
  std::uint8_t code = 0;  // 0: signed integer, 2: float, 4: bfloat
  std::uint8_t bits = 0;
  std::uint16_t lanes = 1;
};
struct DlTensor {
  void* data = nullptr;
  DlDevice device;
  std::int32_t num_axes = 0;
  DlDataType type;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  // null: row-major without gaps
  std::uint64_t first_byte = 0;
};
struct DlManagedTensor {
  DlTensor tensor;
  void* context = nullptr;
  void (*deleter)(DlManagedTensor* self) = nullptr;
};

enum class BatchPart { kMel, kTokens, kTextLen, kMelLen, kSpeaker, kLanguage };

// A tensor over the batch's own memory; it keeps the batch until its deleter is called, once, by
// whoever takes it. `stream` is the consumer's, which then waits for the batch on the device;
// needed there, ignored on the CPU. Wrapped in a capsule named "dltensor" this is what
// torch.from_dlpack takes.
DlManagedTensor* export_dlpack(const std::shared_ptr<Batch>& batch, BatchPart part,
                               std::optional<cuda::StreamView> stream = {});

}  // namespace stoker::feed
