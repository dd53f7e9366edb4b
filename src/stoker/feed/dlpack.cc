#include "stoker/feed/dlpack.h"

#include <array>
#include <utility>

namespace stoker::feed {
namespace {

constexpr DlDataType kInt32{0, 32, 1};
constexpr std::int32_t kOnCpu = 1;
constexpr std::int32_t kOnCuda = 2;

DlDataType type_of(config::MelDtype dtype) {
  switch (dtype) {
    case config::MelDtype::kF32:
      return {2, 32, 1};
    case config::MelDtype::kBf16:
      return {4, 16, 1};
    case config::MelDtype::kF16:
      break;
  }
  return {2, 16, 1};
}

// The tensor, its shape and the batch whose memory it is: freed together.
struct Exported {
  DlManagedTensor managed;
  std::array<std::int64_t, 3> shape{};
  std::shared_ptr<Batch> batch;

  void put(const void* data, DlDataType type, std::initializer_list<std::size_t> axes) {
    managed.tensor.data = const_cast<void*>(data);
    managed.tensor.type = type;
    for (const std::size_t axis : axes) {
      shape[static_cast<std::size_t>(managed.tensor.num_axes++)] = static_cast<std::int64_t>(axis);
    }
  }
};

void put_lengths(Exported& out, BatchPart part) {
  const Batch& batch = *out.batch;
  const Batch::DeviceLengths there = batch.device_lengths();
  const auto put = [&](std::span<const std::int32_t> here, const std::int32_t* device) {
    out.put(batch.device().is_cpu() ? here.data() : device, kInt32, {batch.num_rows()});
  };
  if (part == BatchPart::kTextLen) put(batch.text_len(), there.text_len);
  if (part == BatchPart::kMelLen) put(batch.mel_len(), there.mel_len);
  if (part == BatchPart::kSpeaker) put(batch.speaker(), there.speaker);
  if (part == BatchPart::kLanguage) put(batch.language(), there.language);
}

}  // namespace

DlManagedTensor* export_dlpack(const std::shared_ptr<Batch>& batch, BatchPart part,
                               std::optional<cuda::StreamView> stream) {
  if (stream) batch->wait(*stream);
  auto out = std::make_unique<Exported>();
  out->batch = batch;
  DlTensor& tensor = out->managed.tensor;
  tensor.device =
      batch->device().is_cpu() ? DlDevice{kOnCpu, 0} : DlDevice{kOnCuda, batch->device().index()};
  if (part == BatchPart::kMel) {
    const MelArray mel = batch->mel();
    out->put(mel.data, type_of(mel.dtype), {mel.shape[0], mel.shape[1], mel.shape[2]});
  } else if (part == BatchPart::kTokens) {
    const ArrayView<std::int32_t, 2> tokens = batch->tokens();
    out->put(tokens.data, kInt32, {tokens.shape[0], tokens.shape[1]});
  } else {
    put_lengths(*out, part);
  }
  tensor.shape = out->shape.data();
  out->managed.context = out.get();
  out->managed.deleter = [](DlManagedTensor* self) {
    const std::unique_ptr<Exported> freed(static_cast<Exported*>(self->context));
  };
  return &out.release()->managed;
}

}  // namespace stoker::feed
