#include "stoker/feed/batch.h"

#include <algorithm>
#include <utility>

#include "stoker/cuda/stream.h"
#include "stoker/feed/assembly/upload_block.h"

namespace stoker::feed {

Batch::Batch(pipeline::SlotLease lease, const BatchSlot& slot,
             std::shared_ptr<const UtteranceSource> store,
             std::shared_ptr<const BatchFormat> format, RecordTicket ticket)
    : lease_(std::move(lease)),
      slot_(&slot),
      store_(std::move(store)),
      format_(std::move(format)),
      ticket_(std::move(ticket)) {}

Batch::Batch(DeviceLease lease, std::shared_ptr<const UtteranceSource> store,
             std::shared_ptr<const BatchFormat> format, RecordTicket ticket)
    : device_lease_(std::move(lease)),
      slot_(&device_lease_.slot().host),
      store_(std::move(store)),
      format_(std::move(format)),
      ticket_(std::move(ticket)) {}

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
  ticket_.give_back();
  if (device_lease_) device_lease_.release(stream);
  lease_.release();
}

Batch::DeviceLengths Batch::device_lengths() const {
  if (!device_lease_) return {};
  const UploadBlock block(*slot_);
  const auto at = [](const std::byte* place) {
    return reinterpret_cast<const std::int32_t*>(place);
  };
  const std::byte* const first = device_lease_.slot().block;
  DeviceLengths lengths{.text_len = at(first + block.text_len),
                        .mel_len = at(first + block.mel_len),
                        .speaker = at(first + block.speaker),
                        .language = at(first + block.language)};
  const ExtrasBlock& places = slot_->extra_places;
  if (format_->with_audio) lengths.audio_len = at(extras() + places.audio_len);
  if (format_->reference_frames > 0) lengths.reference_len = at(extras() + places.reference_len);
  return lengths;
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
  return {reinterpret_cast<const float*>(extras() + slot_->extra_places.audio),
          {slot_->shape.num_rows, std::size_t{slot_->shape.num_frames} * format_->hop_samples}};
}

MelArray Batch::reference_mel() const {
  if (format_->reference_frames == 0) return {};
  return {extras() + slot_->extra_places.reference_mel,
          format_->dtype,
          {slot_->num_rows, format_->reference_frames, format_->num_mels}};
}

ArrayView<float, 2> Batch::wav_segment() const {
  if (format_->segment_frames == 0) return {};
  return {reinterpret_cast<const float*>(extras() + slot_->extra_places.wav_segment),
          {slot_->num_rows, std::size_t{format_->segment_frames} * format_->hop_samples}};
}

MelArray Batch::mel_segment() const {
  if (format_->segment_frames == 0) return {};
  return {extras() + slot_->extra_places.mel_segment,
          format_->dtype,
          {slot_->num_rows, format_->segment_frames, format_->num_mels}};
}

NamedArray Batch::array(std::string_view name) const {
  for (std::size_t i = 0; i < format_->arrays.size(); ++i) {
    const ArrayKind& kind = format_->arrays[i];
    if (kind.name != name) continue;
    const ExtrasBlock& places = slot_->extra_places;
    const auto* const there = reinterpret_cast<const std::int32_t*>(extras() + places.array_len[i]);
    return {extras() + places.arrays[i],
            kind.element,
            {slot_->num_rows, kind.max_length, kind.values_per_step},
            view(slot_->array_len[i]),
            device_lease_ ? there : nullptr};
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
  HostCopy copy;
  if (!device_lease_) return copy;
  cuda::DeviceApi& api = device_lease_.ring().api();
  const cuda::Stream stream(device_lease_.ring().device(), cuda::StreamPriority::kNormal, api);
  wait_briefly(stream);
  const auto load = [&](const void* from, std::size_t size_bytes) {
    if (size_bytes == 0) return;
    HostCopy::Part& part = copy.parts_.emplace_back(
        HostCopy::Part{reinterpret_cast<std::uintptr_t>(from), std::vector<std::byte>(size_bytes)});
    api.copy({part.bytes.data(), from, size_bytes, cuda::CopyKind::kToHost},
             stream.view().handle());
  };
  load(mel().data, mel().size_bytes());
  load(tokens().data, tokens().size() * sizeof(std::int32_t));
  load(extras(), slot_->extra_places.delivered_bytes);
  stream.synchronize();
  return copy;
}

Digest128 Batch::content_digest() const {
  const HostCopy copy = load_from_device();
  const auto* const mels = static_cast<const std::byte*>(copy.here(mel()).data);
  const std::span<const std::int32_t> texts = copy.here(tokens()).values();
  DigestStream stream;
  for (std::size_t row = 0; row < num_rows(); ++row) {
    const auto num_tokens = static_cast<std::size_t>(slot_->text_len[row]);
    const auto num_frames = static_cast<std::size_t>(slot_->mel_len[row]);
    stream.add_text(id(row));
    stream.add_number(slot_->text_len[row]);
    stream.add_number(slot_->mel_len[row]);
    stream.add(std::as_bytes(texts.subspan(slot_->token_begins[row], num_tokens)));
    stream.add({mels + slot_->frame_begins[row] * format_->bytes_per_frame(),
                num_frames * format_->bytes_per_frame()});
    stream.add_number(slot_->speaker[row]);
    stream.add_number(slot_->language[row]);
    digest_extras(row, copy, stream);
  }
  return stream.finish();
}

void Batch::digest_extras(std::size_t row, const HostCopy& copy, DigestStream& stream) const {
  const auto add = [&](const auto& part, std::size_t begin, std::size_t size_bytes) {
    const auto* const first = reinterpret_cast<const std::byte*>(copy.here(part).data);
    stream.add({first + begin, size_bytes});
  };
  const std::size_t frame_bytes = format_->bytes_per_frame();
  const std::size_t hop_bytes = format_->hop_samples * sizeof(float);
  if (format_->reference_frames > 0) {
    const auto count = static_cast<std::size_t>(slot_->reference_len[row]);
    stream.add_number(slot_->reference_len[row]);
    add(reference_mel(), row * format_->reference_frames * frame_bytes, count * frame_bytes);
  }
  if (const std::size_t wanted = format_->segment_frames; wanted > 0) {
    const std::size_t count = std::min(wanted, static_cast<std::size_t>(slot_->mel_len[row]));
    stream.add_number(static_cast<std::int32_t>(count));
    add(mel_segment(), row * wanted * frame_bytes, count * frame_bytes);
    add(wav_segment(), row * wanted * hop_bytes, count * hop_bytes);
  }
  if (format_->with_audio) {
    stream.add_number(slot_->audio_len[row]);
    add(audio(), slot_->frame_begins[row] * hop_bytes,
        static_cast<std::size_t>(slot_->audio_len[row]) * sizeof(float));
  }
  for (std::size_t i = 0; i < format_->arrays.size(); ++i) {
    const ArrayKind& kind = format_->arrays[i];
    const auto length = static_cast<std::size_t>(slot_->array_len[i][row]);
    stream.add_number(slot_->array_len[i][row]);
    add(array(kind.name), row * kind.max_length * kind.bytes_per_step(),
        length * kind.bytes_per_step());
  }
}

}  // namespace stoker::feed
