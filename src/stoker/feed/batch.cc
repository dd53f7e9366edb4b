#include "stoker/feed/batch.h"

#include <algorithm>
#include <utility>

#include "stoker/cuda/stream.h"
#include "stoker/feed/assembly/upload_block.h"

namespace stoker::feed {

Batch::Batch(pipeline::SlotLease lease, const BatchSlot& slot,
             std::shared_ptr<const UtteranceSource> store,
             std::shared_ptr<const BatchFormat> format)
    : lease_(std::move(lease)),
      slot_(&slot),
      store_(std::move(store)),
      format_(std::move(format)) {}

Batch::Batch(DeviceLease lease, std::shared_ptr<const UtteranceSource> store,
             std::shared_ptr<const BatchFormat> format)
    : device_lease_(std::move(lease)),
      slot_(&device_lease_.slot().host),
      store_(std::move(store)),
      format_(std::move(format)) {}

Batch::Batch(DeviceLease borrowed, const Batch& lender)
    : device_lease_(std::move(borrowed)),
      slot_(lender.slot_),
      store_(lender.store_),
      format_(lender.format_) {}

Batch Batch::borrow() const { return {device_lease_.borrow(), *this}; }

Device Batch::device() const {
  return device_lease_ ? Device::cuda(device_lease_.ring().device()) : Device::cpu();
}

void Batch::wait(cuda::StreamView stream) {
  if (device_lease_) device_lease_.wait(stream);
}

void Batch::wait_briefly(cuda::StreamView stream) const {
  if (device_lease_) device_lease_.slot().ready.hold_back(stream);
}

void Batch::add_reader(cuda::StreamView stream) {
  if (device_lease_) device_lease_.add_reader(stream);
}

void Batch::release(cuda::StreamView stream) {
  if (device_lease_) device_lease_.release(stream);
  lease_.release();
}

Batch::DeviceLengths Batch::device_lengths() const {
  if (!device_lease_) return {};
  const UploadBlock block(*slot_);
  const auto at = [&](std::size_t place) {
    return reinterpret_cast<const std::int32_t*>(device_lease_.slot().block + place);
  };
  return {at(block.text_len), at(block.mel_len), at(block.speaker), at(block.language)};
}

MelArray Batch::mel() const {
  return {device_lease_ ? device_lease_.slot().mel : slot_->mel.data(),
          format_->dtype,
          {slot_->shape.num_rows, slot_->shape.num_frames, format_->num_mels}};
}

ArrayView<std::int32_t, 2> Batch::tokens() const {
  const auto* const on_device =
      device_lease_ ? reinterpret_cast<const std::int32_t*>(device_lease_.slot().block) : nullptr;
  return {device_lease_ ? on_device : slot_->tokens.data(),
          {slot_->shape.num_rows, slot_->shape.num_tokens}};
}

ArrayView<float, 2> Batch::audio() const {
  if (!format_->with_audio) return {};
  return {reinterpret_cast<const float*>(slot_->audio.data()),
          {slot_->shape.num_rows, std::size_t{slot_->shape.num_frames} * format_->hop_samples}};
}

MelArray Batch::reference_mel() const {
  if (format_->reference_frames == 0) return {};
  return {slot_->reference_mel.data(),
          format_->dtype,
          {slot_->num_rows, format_->reference_frames, format_->num_mels}};
}

ArrayView<float, 2> Batch::wav_segment() const {
  if (format_->segment_frames == 0) return {};
  return {reinterpret_cast<const float*>(slot_->wav_segment.data()),
          {slot_->num_rows, std::size_t{format_->segment_frames} * format_->hop_samples}};
}

MelArray Batch::mel_segment() const {
  if (format_->segment_frames == 0) return {};
  return {slot_->mel_segment.data(),
          format_->dtype,
          {slot_->num_rows, format_->segment_frames, format_->num_mels}};
}

NamedArray Batch::array(std::string_view name) const {
  for (std::size_t i = 0; i < format_->arrays.size(); ++i) {
    const ArrayKind& kind = format_->arrays[i];
    if (kind.name != name) continue;
    return {slot_->arrays[i].data(),
            kind.element,
            {slot_->num_rows, kind.max_length, kind.values_per_step},
            view(slot_->array_len[i])};
  }
  return {};
}

Digest128 Batch::ids_digest() const {
  DigestStream stream;
  for (std::size_t row = 0; row < num_rows(); ++row) stream.add_text(id(row));
  return stream.finish();
}

Digest128 Batch::global_ids_digest() const {
  DigestStream stream;
  for (const std::uint32_t row : slot_->global_utterances) stream.add_text(id_of(row));
  return stream.finish();
}

Batch::HostCopy Batch::load_from_device() const {
  const ArrayView<std::int32_t, 2> from_tokens = tokens();
  HostCopy copy{.mel = std::vector<std::byte>(mel().size_bytes()),
                .tokens = std::vector<std::int32_t>(from_tokens.size())};
  cuda::DeviceApi& api = device_lease_.ring().api();
  const cuda::Stream stream(device_lease_.ring().device(), cuda::StreamPriority::kNormal, api);
  wait_briefly(stream);
  api.copy({copy.mel.data(), mel().data, copy.mel.size(), cuda::CopyKind::kToHost},
           stream.view().handle());
  api.copy({copy.tokens.data(), from_tokens.data, copy.tokens.size() * sizeof(std::int32_t),
            cuda::CopyKind::kToHost},
           stream.view().handle());
  stream.synchronize();
  return copy;
}

Digest128 Batch::content_digest() const {
  HostCopy copy;
  if (device_lease_) copy = load_from_device();
  const std::byte* const mels = device_lease_ ? copy.mel.data() : slot_->mel.data();
  const std::vector<std::int32_t>& texts = device_lease_ ? copy.tokens : slot_->tokens;
  DigestStream stream;
  for (std::size_t row = 0; row < num_rows(); ++row) {
    const auto num_tokens = static_cast<std::size_t>(slot_->text_len[row]);
    const auto num_frames = static_cast<std::size_t>(slot_->mel_len[row]);
    stream.add_text(id(row));
    stream.add_number(slot_->text_len[row]);
    stream.add_number(slot_->mel_len[row]);
    stream.add(std::as_bytes(std::span(texts).subspan(slot_->token_begins[row], num_tokens)));
    stream.add({mels + slot_->frame_begins[row] * format_->bytes_per_frame(),
                num_frames * format_->bytes_per_frame()});
    stream.add_number(slot_->speaker[row]);
    stream.add_number(slot_->language[row]);
    digest_extras(row, stream);
  }
  return stream.finish();
}

void Batch::digest_extras(std::size_t row, DigestStream& stream) const {
  const auto add = [&stream](const AlignedBytes& part, std::size_t begin, std::size_t size_bytes) {
    stream.add({part.data() + begin, size_bytes});
  };
  const std::size_t frame_bytes = format_->bytes_per_frame();
  const std::size_t hop_bytes = format_->hop_samples * sizeof(float);
  if (format_->reference_frames > 0) {
    const auto count = static_cast<std::size_t>(slot_->reference_len[row]);
    stream.add_number(slot_->reference_len[row]);
    add(slot_->reference_mel, row * format_->reference_frames * frame_bytes, count * frame_bytes);
  }
  if (const std::size_t wanted = format_->segment_frames; wanted > 0) {
    const std::size_t count = std::min(wanted, static_cast<std::size_t>(slot_->mel_len[row]));
    stream.add_number(static_cast<std::int32_t>(count));
    add(slot_->mel_segment, row * wanted * frame_bytes, count * frame_bytes);
    add(slot_->wav_segment, row * wanted * hop_bytes, count * hop_bytes);
  }
  if (format_->with_audio) {
    stream.add_number(slot_->audio_len[row]);
    add(slot_->audio, slot_->frame_begins[row] * hop_bytes,
        static_cast<std::size_t>(slot_->audio_len[row]) * sizeof(float));
  }
  for (std::size_t i = 0; i < format_->arrays.size(); ++i) {
    const ArrayKind& kind = format_->arrays[i];
    const auto length = static_cast<std::size_t>(slot_->array_len[i][row]);
    stream.add_number(slot_->array_len[i][row]);
    add(slot_->arrays[i], row * kind.max_length * kind.bytes_per_step(),
        length * kind.bytes_per_step());
  }
}

}  // namespace stoker::feed
