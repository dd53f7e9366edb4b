#include "stoker/feed/assembly/optional_fields.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/base/digest/digest.h"
#include "stoker/base/philox.h"
#include "stoker/cache/read/fused_read.h"

namespace stoker::feed {
namespace {

// Where to cut `wanted` frames out of `present`, each begin equally likely; 0 when there are not
// more.
std::uint32_t draw_begin(KeyedDraws draws, std::uint32_t present, std::uint32_t wanted) {
  if (present <= wanted) return 0;
  return static_cast<std::uint32_t>(draws.next_below(present - wanted + 1));
}

void fill_mel(std::byte* out, const BatchFormat& format, std::size_t num_frames) {
  cache::fill_values(out, cache::element_of(format.dtype), num_frames * format.num_mels,
                     format.padding);
}

}  // namespace

OptionalFields::OptionalFields(std::shared_ptr<const UtteranceSource> store,
                               std::vector<std::uint32_t> num_frames,
                               const OptionalFieldOptions& options)
    : store_(std::move(store)), num_frames_(std::move(num_frames)), options_(options) {
  if (options.reference != ReferenceFrom::kSameSpeaker) return;
  for (std::uint32_t utterance = 0; utterance < store_->num_utterances(); ++utterance) {
    const auto speaker = static_cast<std::size_t>(std::max(0, store_->speaker(utterance)));
    if (by_speaker_.size() <= speaker) by_speaker_.resize(speaker + 1);
    by_speaker_[speaker].push_back(utterance);
  }
}

KeyedDraws OptionalFields::draws(std::string_view stage, std::uint32_t utterance,
                                 std::uint64_t epoch) const {
  return KeyedDraws({options_.seed, stage, epoch, hash64(store_->id(utterance))});
}

// Another utterance of the same speaker, each equally likely; the same one when there is no other.
std::uint32_t OptionalFields::choose_reference(std::uint32_t utterance, std::uint64_t epoch) const {
  if (options_.reference == ReferenceFrom::kSameUtterance) return utterance;
  const auto& others =
      by_speaker_[static_cast<std::size_t>(std::max(0, store_->speaker(utterance)))];
  if (others.size() < 2) return utterance;
  const auto own = std::lower_bound(others.begin(), others.end(), utterance) - others.begin();
  auto draw = static_cast<std::ptrdiff_t>(
      draws("reference/utterance", utterance, epoch).next_below(others.size() - 1));
  if (draw >= own) ++draw;
  return others[static_cast<std::size_t>(draw)];
}

Result<void> OptionalFields::fill(std::size_t row, const Work& work) const {
  if (work.format.needs_audio()) {
    if (Result<void> read = fill_audio(row, work); !read) return read;
  }
  if (work.format.segment_frames > 0) fill_segment(row, work);
  if (work.format.reference_frames > 0) fill_reference(row, work);
  return fill_arrays(row, work);
}

// Padded: the whole row. Packed: as many frames as the utterance was planned with, since another
// one may follow.
OptionalFields::SamplePlace OptionalFields::samples_of(std::size_t row, const Work& work) const {
  const std::size_t num_frames = work.format.layout == BatchLayout::kPadded
                                     ? work.slot.shape.num_frames
                                     : num_frames_[work.slot.utterances[row]];
  return {std::size_t{work.slot.frame_begins[row]} * work.format.hop_samples,
          num_frames * work.format.hop_samples};
}

Result<void> OptionalFields::fill_audio(std::size_t row, const Work& work) const {
  BatchSlot& slot = work.slot;
  const SamplePlace place = samples_of(row, work);
  const std::span<float> out(
      reinterpret_cast<float*>(slot.extras.data() + slot.extra_places.audio) + place.begin,
      place.count);
  std::size_t written = 0;
  if (slot.mel_len[row] > 0) {
    const Result<std::uint32_t> read =
        work.reader.read_audio(slot.utterances[row], out, work.context);
    if (!read) return read.error();
    written = *read;
  }
  slot.audio_len[row] = static_cast<std::int32_t>(written);
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(written), out.end(), 0.0F);
  return {};
}

Result<void> OptionalFields::fill_arrays(std::size_t row, const Work& work) const {
  BatchSlot& slot = work.slot;
  for (std::size_t array = 0; array < work.format.arrays.size(); ++array) {
    const ArrayKind& kind = work.format.arrays[array];
    const std::size_t row_bytes = kind.max_length * kind.bytes_per_step();
    const std::span<std::byte> out(
        slot.extras.data() + slot.extra_places.arrays[array] + row * row_bytes, row_bytes);
    std::uint32_t length = 0;
    if (slot.mel_len[row] > 0) {
      const Result<std::uint32_t> read = work.reader.read_array(slot.utterances[row], array, out);
      if (!read) return read.error();
      length = *read;
    }
    slot.array_len[array][row] = static_cast<std::int32_t>(length);
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(length * kind.bytes_per_step()), out.end(),
              std::byte{0});
  }
  return {};
}

void OptionalFields::fill_segment(std::size_t row, const Work& work) const {
  const BatchFormat& format = work.format;
  BatchSlot& slot = work.slot;
  const std::uint32_t wanted = format.segment_frames;
  const auto present = static_cast<std::uint32_t>(slot.mel_len[row]);
  std::uint32_t begin = 0;
  if (present > 0)
    begin = draw_begin(draws("segment", slot.utterances[row], slot.epoch), present, wanted);
  const std::size_t count = std::min(present, wanted);
  std::byte* const mel =
      slot.extras.data() + slot.extra_places.mel_segment + row * wanted * format.bytes_per_frame();
  std::memcpy(mel, slot.mel_at(format, slot.frame_begins[row] + begin),
              count * format.bytes_per_frame());
  fill_mel(mel + count * format.bytes_per_frame(), format, wanted - count);

  const float* const from =
      reinterpret_cast<const float*>(slot.extras.data() + slot.extra_places.audio) +
      samples_of(row, work).begin;
  float* const wav = reinterpret_cast<float*>(slot.extras.data() + slot.extra_places.wav_segment) +
                     row * wanted * format.hop_samples;
  std::fill_n(wav, std::size_t{wanted} * format.hop_samples, 0.0F);
  std::copy_n(from + std::size_t{begin} * format.hop_samples, count * format.hop_samples, wav);
}

void OptionalFields::fill_reference(std::size_t row, const Work& work) const {
  const BatchFormat& format = work.format;
  BatchSlot& slot = work.slot;
  const std::uint32_t wanted = format.reference_frames;
  std::byte* const out = slot.extras.data() + slot.extra_places.reference_mel +
                         row * wanted * format.bytes_per_frame();
  std::size_t count = 0;
  if (slot.mel_len[row] > 0) {
    const std::uint32_t present =
        read_reference(choose_reference(slot.utterances[row], slot.epoch), work);
    const std::uint32_t begin =
        draw_begin(draws("reference/crop", slot.utterances[row], slot.epoch), present, wanted);
    count = std::min(present, wanted);
    std::memcpy(out, slot.scratch_mel.data() + begin * format.bytes_per_frame(),
                count * format.bytes_per_frame());
  }
  slot.reference_len[row] = static_cast<std::int32_t>(count);
  fill_mel(out + count * format.bytes_per_frame(), format, wanted - count);
}

std::uint32_t OptionalFields::read_reference(std::uint32_t utterance, const Work& work) const {
  const std::uint32_t present = num_frames_[utterance];
  std::vector<std::byte>& mel = work.slot.scratch_mel;
  mel.resize(std::max(mel.size(), present * work.format.bytes_per_frame()));
  work.context.at_item(utterance);
  const MelTarget target{mel.data(), work.format.dtype, present, work.format.padding};
  const Result<std::uint32_t> read = work.reader.read_mel(utterance, target, work.context);
  if (read) return present;
  work.note_bad(utterance, read.error());
  return 0;
}

}  // namespace stoker::feed
