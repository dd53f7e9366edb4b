// The small arrays of a batch in one block, so that they reach the GPU in one copy.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/feed/assembly/batch_slot.h"

namespace stoker::feed {

// Where each array begins in the block, in bytes; each is aligned to 16. Built anew for every
// batch: only what the batch holds is copied.
struct UploadBlock {
  // One more segment than rows: the padding before the first row of a packed batch.
  explicit UploadBlock(const BatchSlot& slot);
  static std::size_t most_bytes(const BatchFormat& format);
  // What the block takes in a slot, on the host and on the device: the mel follows it, so that one
  // copy moves both.
  static std::size_t room_bytes(const BatchFormat& format);

  // Writes everything but where the payload of utterances begins that the GPU has already.
  void write(const BatchSlot& slot, const BatchFormat& format) const;

  std::size_t num_rows = 0;
  std::size_t num_tokens = 0;
  std::size_t num_segments = 0;
  // i32: [B, L], then [rows] each
  std::size_t tokens = 0, text_len = 0, mel_len = 0, speaker = 0, language = 0;
  // Where each row's payload begins (i64, samples or frames) and how long it is (i32).
  std::size_t begins = 0, lengths = 0;
  // Samples as payload: where each row's mel begins (i64, frames) when it is made as
  // [rows, made_frames, mels]; its length is mel_len.
  std::size_t made_begins = 0;
  std::size_t made_frames = 0;
  // Where each row goes in the batch and the room it fills with padding (i32, frames).
  std::size_t out_begins = 0, rooms = 0;
  // Augmented: each row's key (u64), and where its changed samples begin (i64); else empty.
  std::size_t row_keys = 0, changed_begins = 0;
  std::size_t size_bytes = 0;

 private:
  void write_changed(const BatchSlot& slot, const BatchFormat& format) const;
};

}  // namespace stoker::feed
