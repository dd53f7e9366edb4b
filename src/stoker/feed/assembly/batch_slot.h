// The memory of one batch: taken once, written by a worker, read by the consumer, used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stoker/config/mel_dtype.h"
#include "stoker/feed/sampling/sampler_settings.h"
#include "stoker/feed/source/utterance_source.h"

namespace stoker::feed {

inline constexpr std::uint32_t kEmptyRow = ~std::uint32_t{0};

// What workers write as a batch's mel memory. Ragged: the rows one after the other, to be laid out
// on the GPU; samples begin at multiples of kSampleAlignment.
enum class SlotPayload { kPaddedMel, kRaggedMel, kRaggedPcm };

// What every batch of a feed has in common; sizes are those of this rank.
struct BatchFormat {
  BatchLayout layout = BatchLayout::kPadded;
  config::MelDtype dtype = config::MelDtype::kF16;
  std::uint32_t num_mels = 80;
  std::uint32_t hop_samples = 256;
  float padding = 0.0F;
  std::size_t max_mel_frames = 0;   // B * T of the largest shape
  std::size_t max_tokens = 0;       // B * L of the largest
  std::size_t max_rows = 0;         // utterances of a batch
  std::size_t max_row_frames = 0;   // of the longest utterance, padded
  std::size_t max_global_rows = 0;  // over all ranks
  bool with_audio = false;
  std::uint32_t reference_frames = 0;  // 0: no reference
  std::uint32_t segment_frames = 0;    // 0: no segments
  std::vector<ArrayKind> arrays;       // named arrays to deliver
  SlotPayload payload = SlotPayload::kPaddedMel;
  std::uint32_t max_extra_samples = 0;  // of a row beyond frames * hop; for samples as payload
  bool is_augmented = false;            // on the device: rows are named by their keys
  bool rows_in_place = false;           // ragged rows may be copied from where they lie
  bool is_for_device = false;  // the small arrays are also packed into one block (device_pack.h)

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

struct FreeBytes {
  std::size_t mapped_bytes = 0;  // 0: from the heap
  bool is_borrowed = false;
  void operator()(std::byte* bytes) const;
};

// 64-byte aligned memory that is not touched before it is written; its own, or somebody's who lives
// longer. Large pieces are the kernel's own pages: they count as they are and go back when they are
// freed.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size_bytes);  // throws std::bad_alloc
  static AlignedBytes borrow(std::span<std::byte> memory);
  std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_bytes_; }

  // What memory of that size takes.
  static std::size_t taken_bytes(std::size_t size_bytes);

 private:
  std::unique_ptr<std::byte, FreeBytes> bytes_;
  std::size_t size_bytes_ = 0;
};

// Counted by the worker, so that the consumer need not look at every row.
struct BatchSums {
  std::uint32_t num_clips = 0;      // utterances; empty rows are none
  std::uint32_t num_empty_bad = 0;  // rows that are empty because their file turned bad
  std::uint64_t true_frames = 0;
  std::uint64_t all_frames = 0;  // with the padding
};

// Arrays of one batch. With R rows of shape (B, T, L) the padded layout uses R = B and row r's mel
// at frame r * T; the packed one tells each utterance's place in frame_begins and token_begins.
struct alignas(64) BatchSlot {
  // With memory of somebody else's for the mel and the packed block; empty: its own.
  struct Memory {
    std::span<std::byte> mel{};
    std::span<std::byte> pack{};
  };
  explicit BatchSlot(const BatchFormat& format) : BatchSlot(format, Memory()) {}
  BatchSlot(const BatchFormat& format, const Memory& memory);

  std::byte* mel_at(const BatchFormat& format, std::size_t frame) const {
    return mel.data() + frame * format.bytes_per_frame();
  }

  // What every consumer reads lies together: a line that a worker has just written is slow to come.
  void fetch() const {
    __builtin_prefetch(this);
    __builtin_prefetch(&mel);
  }

  // Whose batch this is now.
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  BatchSums sums;
  std::uint32_t num_rows = 0;
  bool is_last = false;  // of its epoch
  BatchShape shape;      // of this rank
  BatchShape global_shape;
  AlignedBytes mel;

  std::vector<std::uint32_t> rows;         // in the store; kEmptyRow where nobody stands
  std::vector<std::uint32_t> global_rows;  // of the batch over all ranks
  std::vector<std::int32_t> text_len, mel_len, speaker, language;
  std::vector<std::uint32_t> frame_begins, token_begins;
  std::vector<std::int32_t> tokens;
  AlignedBytes audio, reference_mel, wav_segment, mel_segment;
  std::vector<std::int32_t> audio_len, reference_len;
  std::vector<AlignedBytes> arrays;  // one for each of the format's, [rows, max_length, …]
  std::vector<std::vector<std::int32_t>> array_len;
  std::vector<std::byte> scratch_mel;  // a whole reference before it is cut

  // Ragged payloads: each row's place in `mel`, in samples or frames; length 0 where the row is
  // empty. A row that lies in GPU memory already has kOnDevice for its place.
  static constexpr std::int64_t kOnDevice = -1;
  std::vector<std::int64_t> payload_begins;
  std::vector<std::int32_t> payload_len;
  std::vector<std::uint64_t> row_keys;         // hash64 of the ids; empty unless is_augmented
  std::vector<const std::byte*> payload_from;  // where each row's bytes are in host memory
  std::uint32_t num_in_place = 0;              // rows whose bytes are not in `mel`
  std::size_t payload_used_bytes = 0;
  AlignedBytes pack;
};

}  // namespace stoker::feed
