// The memory of one batch: taken once, written by a worker, read by the consumer, used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/base/aligned_bytes.h"
#include "stoker/config/mel_dtype.h"
#include "stoker/feed/assembly/extras_block.h"
#include "stoker/feed/batch_counts.h"
#include "stoker/feed/sampling/sampler_settings.h"
#include "stoker/feed/source/utterance_source.h"

namespace stoker::feed {

// In place of an utterance, for a row that is empty.
inline constexpr std::uint32_t kEmptyRow = ~std::uint32_t{0};

// What workers write into a batch's mel memory. Ragged: the rows one after the other, for the GPU
// to lay out; samples begin at multiples of kSampleAlignment.
enum class SlotPayload { kPaddedMel, kRaggedMel, kRaggedPcm };

// What every batch of a feed has in common; sizes are those of this rank.
struct BatchFormat {
  BatchLayout layout = BatchLayout::kPadded;
  config::MelDtype dtype = config::MelDtype::kF16;
  std::uint32_t num_mels = 80;
  std::uint32_t hop_samples = 256;
  float padding = 0.0F;
  std::size_t max_mel_frames = 0;  // B * T of the largest shape
  std::size_t max_tokens = 0;      // B * L of the largest
  std::size_t max_rows = 0;        // utterances of a batch
  std::size_t max_row_frames = 0;  // of the longest utterance, padded
  std::size_t longest_frames = 0;  // of one utterance
  std::size_t longest_tokens = 0;
  std::size_t max_global_rows = 0;  // over all ranks
  bool with_audio = false;
  std::uint32_t reference_frames = 0;  // 0: no reference
  std::uint32_t segment_frames = 0;    // 0: no segments
  std::vector<ArrayKind> arrays;       // named arrays to deliver
  SlotPayload payload = SlotPayload::kPaddedMel;
  std::uint32_t max_extra_samples = 0;  // of a row beyond frames * hop; for samples as payload
  bool is_augmented = false;            // on the device: utterances are named by their keys
  bool rows_in_place = false;           // ragged rows may be copied from the mapped cache
  bool is_for_device = false;  // the small arrays are also written into one block (upload_block.h)

  bool has_extras() const { return needs_audio() || reference_frames > 0 || !arrays.empty(); }
  // Segments are cut from the waveform, so they need it too.
  bool needs_audio() const { return with_audio || segment_frames > 0; }
  std::size_t bytes_per_frame() const { return num_mels * config::bytes_per_value(dtype); }
  // Where ragged rows begin: every row's bytes are a multiple of this.
  std::size_t payload_unit_bytes() const;
  std::size_t payload_bytes() const;  // the most a batch's mel memory holds
  // All memory of one slot.
  std::size_t slot_bytes() const;
};

// Arrays of one batch. A row holds one utterance or is empty. With R rows of shape (B, T, L) the
// padded layout has R = B, and row r's mel begins at frame r * T; in the packed layout frame_begins
// and token_begins say where each row begins.
struct alignas(64) BatchSlot {
  // Borrowed for the mel, the upload block and what is optional; empty: the slot's own.
  struct Memory {
    std::span<std::byte> mel{};
    std::span<std::byte> block{};
    std::span<std::byte> extras{};
  };
  explicit BatchSlot(const BatchFormat& format) : BatchSlot(format, Memory()) {}
  BatchSlot(const BatchFormat& format, const Memory& memory);

  std::byte* mel_at(const BatchFormat& format, std::size_t frame) const {
    return mel.data() + frame * format.bytes_per_frame();
  }

  // Begins to load what every consumer reads: a cache line that a worker has just written is slow
  // to come.
  void fetch() const {
    __builtin_prefetch(this);
    __builtin_prefetch(&mel);
  }

  // Which batch this is now.
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  BatchCounts counts;  // by the worker, so that the consumer need not look at every row
  std::uint32_t num_rows = 0;
  bool is_last = false;  // of its epoch
  BatchShape shape;      // of this rank
  BatchShape global_shape;
  std::uint32_t shape_index = 0;  // of the global shape
  AlignedBytes mel;

  std::vector<std::uint32_t> utterances;         // of the source, by row; or kEmptyRow
  std::vector<std::uint32_t> global_utterances;  // the same for the batch over all ranks
  std::vector<std::int32_t> text_len, mel_len, speaker, language;
  std::vector<std::uint32_t> frame_begins, token_begins;
  std::vector<std::int32_t> tokens;
  AlignedBytes extras;  // what is optional, laid out as extra_places says
  ExtrasBlock extra_places;
  std::vector<std::int32_t> audio_len, reference_len;
  std::vector<std::vector<std::int32_t>> array_len;  // for each of the format's arrays
  std::vector<std::byte> scratch_mel;                // a whole reference before it is cut

  // Ragged payloads: where each row begins in `mel`, in samples or frames, or kOnDevice where GPU
  // memory holds the utterance already; length 0 where the row is empty.
  static constexpr std::int64_t kOnDevice = -1;
  std::vector<std::int64_t> payload_begins;
  std::vector<std::int32_t> payload_len;
  std::vector<std::uint64_t> row_keys;  // hash64 of the utterances' ids; empty unless is_augmented
  std::vector<const std::byte*> payload_from;  // where each row's bytes are in host memory
  std::uint32_t num_in_place = 0;              // rows whose bytes are not in `mel`
  std::size_t payload_used_bytes = 0;
  AlignedBytes block;
};

}  // namespace stoker::feed
