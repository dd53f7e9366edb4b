// What a batch may hold beside mel and tokens: waveform, reference crop, aligned
// segments, named arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/source/utterance_source.h"

namespace stoker::feed {

enum class ReferenceFrom { kNone, kSameUtterance, kSameSpeaker };

struct OptionalFieldOptions {
  std::uint64_t seed = kDefaultSeed;
  ReferenceFrom reference = ReferenceFrom::kNone;
};

// Immutable; thread-safe. Every draw is keyed by (seed, stage, epoch, id), so neither threads nor a
// resume change a crop.
class OptionalFields {
 public:
  OptionalFields(std::shared_ptr<const UtteranceSource> store,
                 std::vector<std::uint32_t> num_frames, const OptionalFieldOptions& options);

  // The batch that is being filled, and what fills it.
  struct Work {
    const BatchFormat& format;
    BatchSlot& slot;
    UtteranceReader& reader;
    pipeline::FillContext& context;
    // Called with an utterance that failed as another's reference, which is then left empty. May
    // throw.
    const std::function<void(std::uint32_t utterance, Error error)>& note_bad;
  };

  // Fills the parts of one row, whose mel and lengths are written. An Error is the utterance's own.
  Result<void> fill(std::size_t row, const Work& work) const;

 private:
  // The samples of one row among the batch's: its frames times the hop.
  struct SamplePlace {
    std::size_t begin = 0;
    std::size_t count = 0;
  };
  SamplePlace samples_of(std::size_t row, const Work& work) const;
  KeyedDraws draws(std::string_view stage, std::uint32_t utterance, std::uint64_t epoch) const;
  std::uint32_t choose_reference(std::uint32_t utterance, std::uint64_t epoch) const;
  Result<void> fill_audio(std::size_t row, const Work& work) const;
  Result<void> fill_arrays(std::size_t row, const Work& work) const;
  void fill_segment(std::size_t row, const Work& work) const;
  void fill_reference(std::size_t row, const Work& work) const;
  // Returns the frames read: those that were planned, or none.
  std::uint32_t read_reference(std::uint32_t utterance, const Work& work) const;

  std::shared_ptr<const UtteranceSource> store_;
  std::vector<std::uint32_t> num_frames_;
  OptionalFieldOptions options_;
  std::vector<std::vector<std::uint32_t>> by_speaker_;
};

}  // namespace stoker::feed
