#include "stoker/feed/dlpack.h"

#include <initializer_list>
#include <utility>

namespace stoker::feed {
namespace {

constexpr std::int32_t kOnCpu = 1;
constexpr std::int32_t kOnCuda = 2;

// The tensor, its shape and the owner of its memory: freed together.
template <class Managed>
struct Exported {
  Managed managed;
  std::array<std::int64_t, 3> shape{};
  std::shared_ptr<void> owner;
};

template <class Managed>
Managed* export_as(const DlArray& array, const std::shared_ptr<void>& owner) {
  auto out = std::make_unique<Exported<Managed>>();
  out->shape = array.shape;
  out->owner = owner;
  DlTensor& tensor = out->managed.tensor;
  tensor.data = const_cast<void*>(array.data);
  tensor.device = array.device;
  tensor.type = array.type;
  tensor.num_axes = array.num_axes;
  tensor.shape = out->shape.data();
  out->managed.context = out.get();
  out->managed.deleter = [](Managed* self) {
    const std::unique_ptr<Exported<Managed>> freed(static_cast<Exported<Managed>*>(self->context));
  };
  return &out.release()->managed;
}

void put(DlArray& out, const void* data, DlDataType type, std::initializer_list<std::size_t> axes) {
  out.data = data;
  out.type = type;
  for (const std::size_t axis : axes) {
    out.shape[static_cast<std::size_t>(out.num_axes++)] = static_cast<std::int64_t>(axis);
  }
}

void put_mel(DlArray& out, const MelArray& mel) {
  put(out, mel.data, dl_type(mel.dtype), {mel.shape[0], mel.shape[1], mel.shape[2]});
}

void put_wave(DlArray& out, const ArrayView<float, 2>& wave) {
  put(out, wave.data, kDlFloat32, {wave.shape[0], wave.shape[1]});
}

void put_lengths(DlArray& out, const Batch& batch, BatchPart part) {
  const Batch::DeviceLengths there = batch.device_lengths();
  const auto put_one = [&](std::span<const std::int32_t> here, const std::int32_t* device) {
    put(out, batch.device().is_cpu() ? here.data() : device, kDlInt32, {here.size()});
  };
  if (part == BatchPart::kTextLen) put_one(batch.text_len(), there.text_len);
  if (part == BatchPart::kMelLen) put_one(batch.mel_len(), there.mel_len);
  if (part == BatchPart::kSpeaker) put_one(batch.speaker(), there.speaker);
  if (part == BatchPart::kLanguage) put_one(batch.language(), there.language);
  if (part == BatchPart::kAudioLen) put_one(batch.audio_len(), there.audio_len);
  if (part == BatchPart::kReferenceLen) put_one(batch.reference_len(), there.reference_len);
}

}  // namespace

std::int64_t DlArray::num_values() const {
  std::int64_t product = 1;
  for (std::int32_t axis = 0; axis < num_axes; ++axis) {
    product *= shape[static_cast<std::size_t>(axis)];
  }
  return product;
}

std::size_t DlArray::size_bytes() const {
  constexpr std::size_t kBitsPerByte = 8;
  return static_cast<std::size_t>(num_values()) * type.bits / kBitsPerByte;
}

DlDevice dl_device(const Device& device) {
  return device.is_cpu() ? DlDevice{kOnCpu, 0} : DlDevice{kOnCuda, device.index()};
}

DlDataType dl_type(config::MelDtype dtype) { return dl_type(cache::element_of(dtype)); }

DlDataType dl_type(cache::ElementType element) {
  const auto bits = static_cast<std::uint8_t>(8 * cache::element_bytes(element));
  using cache::ElementType;
  switch (element) {
    case ElementType::kBf16:
      return {4, bits, 1};
    case ElementType::kF16:
    case ElementType::kF32:
    case ElementType::kF64:
      return {2, bits, 1};
    case ElementType::kU8:
    case ElementType::kU16:
    case ElementType::kU32:
    case ElementType::kU64:
      return {1, bits, 1};
    default:
      return {0, bits, 1};
  }
}

DlManagedTensor* export_dlpack(const DlArray& array, const std::shared_ptr<void>& owner) {
  return export_as<DlManagedTensor>(array, owner);
}

DlManagedTensorVersioned* export_versioned(const DlArray& array, const std::shared_ptr<void>& owner,
                                           std::uint64_t flags) {
  DlManagedTensorVersioned* const out = export_as<DlManagedTensorVersioned>(array, owner);
  out->flags = flags;
  return out;
}

DlArray batch_array(const Batch& batch, BatchPart part) {
  DlArray out;
  out.device = dl_device(batch.device());
  switch (part) {
    case BatchPart::kMel:
      put_mel(out, batch.mel());
      break;
    case BatchPart::kTokens:
      put(out, batch.tokens().data, kDlInt32, {batch.tokens().shape[0], batch.tokens().shape[1]});
      break;
    case BatchPart::kAudio:
      put_wave(out, batch.audio());
      break;
    case BatchPart::kReferenceMel:
      put_mel(out, batch.reference_mel());
      break;
    case BatchPart::kWavSegment:
      put_wave(out, batch.wav_segment());
      break;
    case BatchPart::kMelSegment:
      put_mel(out, batch.mel_segment());
      break;
    default:
      put_lengths(out, batch, part);
  }
  return out;
}

DlNamedArray named_array(const Batch& batch, const std::string& name) {
  const NamedArray array = batch.array(name);
  DlNamedArray out;
  out.values.device = out.lengths.device = dl_device(batch.device());
  put(out.values, array.data, dl_type(array.element),
      {array.shape[0], array.shape[1], array.shape[2]});
  if (array.shape[2] == 1) --out.values.num_axes;
  put(out.lengths, batch.device().is_cpu() ? array.lengths.data() : array.device_lengths, kDlInt32,
      {array.lengths.size()});
  return out;
}

DlManagedTensor* export_dlpack(const std::shared_ptr<Batch>& batch, BatchPart part,
                               std::optional<cuda::StreamView> stream) {
  if (stream) batch->wait(*stream);
  return export_dlpack(batch_array(*batch, part), batch);
}

}  // namespace stoker::feed
