// Batches for other libraries without a copy: the DLPack structures that PyTorch, JAX and CuPy
// read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "stoker/cache/format/element_type.h"
#include "stoker/cuda/stream.h"
#include "stoker/feed/batch.h"

namespace stoker::feed {

// The binary interface of DLPack 0.8 (DLManagedTensor and its parts), field by field.
struct DlDevice {
  std::int32_t type = 1;  // 1: CPU, 2: CUDA
  std::int32_t index = 0;
};
struct DlDataType {
  std::uint8_t code = 0;  // 0: signed integer, 1: unsigned, 2: float, 4: bfloat
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

// DLPack 1.0: the same with a version and flags in front of the tensor.
struct DlManagedTensorVersioned {
  std::uint32_t major = 1;
  std::uint32_t minor = 0;
  void* context = nullptr;
  void (*deleter)(DlManagedTensorVersioned* self) = nullptr;
  std::uint64_t flags = 0;  // 1: read-only, 2: a copy
  DlTensor tensor;
};

// An array that is to be exported, row-major and without gaps.
struct DlArray {
  const void* data = nullptr;
  DlDevice device;
  DlDataType type;
  std::array<std::int64_t, 3> shape{};
  std::int32_t num_axes = 0;

  std::int64_t num_values() const;
  std::size_t size_bytes() const;
};

DlDevice dl_device(const Device& device);
DlDataType dl_type(config::MelDtype dtype);
DlDataType dl_type(cache::ElementType element);
inline constexpr DlDataType kDlInt32{0, 32, 1};
inline constexpr DlDataType kDlUint32{1, 32, 1};
inline constexpr DlDataType kDlFloat32{2, 32, 1};

// Tensors over memory that `owner` keeps until their deleter is called, once, by whoever takes
// them, from any thread.
DlManagedTensor* export_dlpack(const DlArray& array, const std::shared_ptr<void>& owner);
DlManagedTensorVersioned* export_versioned(const DlArray& array, const std::shared_ptr<void>& owner,
                                           std::uint64_t flags = 0);

enum class BatchPart {
  kMel,
  kTokens,
  kTextLen,
  kMelLen,
  kSpeaker,
  kLanguage,
  // The rest is optional.
  kAudio,
  kAudioLen,
  kReferenceMel,
  kReferenceLen,
  kWavSegment,
  kMelSegment,
};

// Where the part is: on the batch's device. Without data where the batch has no such part.
DlArray batch_array(const Batch& batch, BatchPart part);

// An array asked for by its name, with one axis less where a step is one value; and its lengths.
struct DlNamedArray {
  DlArray values;
  DlArray lengths;
};
DlNamedArray named_array(const Batch& batch, const std::string& name);

// A tensor over the batch's own memory, which keeps the batch. `stream` is the consumer's, which
// then waits for the batch on the device; needed there, ignored on the CPU. Wrapped in a capsule
// named "dltensor" this is what torch.from_dlpack takes.
DlManagedTensor* export_dlpack(const std::shared_ptr<Batch>& batch, BatchPart part,
                               std::optional<cuda::StreamView> stream = {});

}  // namespace stoker::feed
