// What a batch may hold beside mel and tokens: waveform, reference crop, aligned
// segments, named arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/feed/batch_slot.h"
#include "stoker/feed/row_store.h"

namespace stoker::feed {

enum class ReferenceFrom { kNone, kSameUtterance, kSameSpeaker };

struct ExtrasOptions {
  std::uint64_t seed = 42;
  ReferenceFrom reference = ReferenceFrom::kNone;
};

// Immutable; thread-safe. Every draw is keyed by (seed, stage, epoch, id), so neither threads nor a
// resume change a crop.
class RowExtras {
 public:
  RowExtras(std::shared_ptr<const RowStore> store, std::vector<std::uint32_t> num_frames,
            const ExtrasOptions& options);

  // Fills the parts of row `at`, whose mel and lengths are in place. A row that is bad for
  // another's reference leaves that reference empty.
  Result<void> fill(std::size_t at, const BatchFormat& format, BatchSlot& slot, RowReader& reader,
                    pipeline::FillContext& context) const;

 private:
  KeyedDraws draws(std::string_view stage, std::uint32_t row, std::uint64_t epoch) const;
  std::uint32_t reference_row(std::uint32_t row, std::uint64_t epoch) const;
  Result<void> fill_audio(std::size_t at, const BatchFormat& format, BatchSlot& slot,
                          RowReader& reader, pipeline::FillContext& context) const;
  Result<void> fill_arrays(std::size_t at, const BatchFormat& format, BatchSlot& slot,
                           RowReader& reader) const;
  void fill_segment(std::size_t at, const BatchFormat& format, BatchSlot& slot) const;
  void fill_reference(std::size_t at, const BatchFormat& format, BatchSlot& slot, RowReader& reader,
                      pipeline::FillContext& context) const;

  std::shared_ptr<const RowStore> store_;
  std::vector<std::uint32_t> num_frames_;
  ExtrasOptions options_;
  std::vector<std::vector<std::uint32_t>> by_speaker_;
};

}  // namespace stoker::feed
