#include "stoker/feed/batch.h"

#include <utility>

namespace stoker::feed {

Batch::Batch(pipeline::SlotLease lease, const BatchSlot& slot,
             std::shared_ptr<const RowStore> store, std::shared_ptr<const BatchFormat> format)
    : lease_(std::move(lease)),
      slot_(&slot),
      store_(std::move(store)),
      format_(std::move(format)) {}

MelArray Batch::mel() const {
  return {slot_->mel.data(),
          format_->dtype,
          {slot_->shape.num_rows, slot_->shape.num_frames, format_->num_mels}};
}

ArrayView<std::int32_t, 2> Batch::tokens() const {
  return {slot_->tokens.data(), {slot_->shape.num_rows, slot_->shape.num_tokens}};
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
  for (const std::uint32_t row : slot_->global_rows) stream.add_text(id_of(row));
  return stream.finish();
}

Digest128 Batch::content_digest() const {
  DigestStream stream;
  for (std::size_t row = 0; row < num_rows(); ++row) {
    const auto num_tokens = static_cast<std::size_t>(slot_->text_len[row]);
    const auto num_frames = static_cast<std::size_t>(slot_->mel_len[row]);
    stream.add_text(id(row));
    stream.add_number(slot_->text_len[row]);
    stream.add_number(slot_->mel_len[row]);
    stream.add(
        std::as_bytes(std::span(slot_->tokens).subspan(slot_->token_begins[row], num_tokens)));
    stream.add({slot_->mel_at(*format_, slot_->frame_begins[row]),
                num_frames * format_->bytes_per_frame()});
  }
  return stream.finish();
}

}  // namespace stoker::feed
