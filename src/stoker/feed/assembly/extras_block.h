// What is optional in a batch as one block, so that it reaches the GPU in one copy.
#pragma once

#include <cstddef>
#include <vector>

namespace stoker::feed {

struct BatchFormat;
struct BatchSlot;

// Where each part begins in the block, in bytes; a part that the format does not have takes none.
// Laid out anew for every batch: only what the batch holds is copied.
struct ExtrasBlock {
  struct Size {
    std::size_t num_rows = 0;
    std::size_t num_frames = 0;  // of all rows, padding included
  };
  // Allocates nothing where it was laid out for the same format before.
  void lay_out(const BatchFormat& format, const Size& size);
  // For the largest batch of a format.
  static ExtrasBlock most(const BatchFormat& format);

  // Copies the lengths, which are the slot's own arrays, into its block.
  void write_lengths(const BatchSlot& slot) const;

  std::size_t audio_len = 0, reference_len = 0;  // i32 [rows]
  std::vector<std::size_t> array_len;            // i32 [rows] for each array
  std::size_t reference_mel = 0, mel_segment = 0, wav_segment = 0;
  std::vector<std::size_t> arrays;
  std::size_t audio = 0;
  std::size_t delivered_bytes = 0;  // without a waveform that only segments are cut from
  std::size_t size_bytes = 0;
};

}  // namespace stoker::feed
