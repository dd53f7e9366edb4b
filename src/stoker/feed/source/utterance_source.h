// Where a feed's utterances come from: cache, samples or files behind one interface, so that the
// engine and its tests need not know which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/result.h"
#include "stoker/cache/format/element_type.h"
#include "stoker/config/mel_dtype.h"
#include "stoker/feed/fallbacks.h"
#include "stoker/feed/records/batch_record.h"
#include "stoker/pipeline/slot_filler.h"

namespace stoker::feed {

// The stages of a worker whose time is told apart: the first of a record's.
enum FillStage : std::size_t {
  kPlan,
  kFetch,
  kDecode,
  kResample,
  kMel,
  kText,
  kAugment,
  kAssemble,
  kNumStages
};
static_assert(kNumStages == static_cast<std::size_t>(RecordStage::kWaitSlot));
static_assert(kText == static_cast<std::size_t>(RecordStage::kText));
static_assert(kAssemble == static_cast<std::size_t>(RecordStage::kAssemble));

// What a reader has read: for the records.
struct ReadCounts {
  std::uint64_t num_bytes = 0;   // of sound files and cache records
  std::uint32_t num_cached = 0;  // utterances whose sound or mel came from the cache
  std::uint32_t num_made = 0;    // and from the file
};

// Samples of an utterance, and noises that are mixed into them, begin at multiples of this.
inline constexpr std::size_t kSampleAlignment = 8;

// An utterance's part of a batch: its frames come first, `padding` fills the rest.
struct MelTarget {
  void* values = nullptr;
  config::MelDtype dtype = config::MelDtype::kF16;
  std::uint32_t num_frames = 0;  // room, at least what the utterance was planned with
  float padding = 0.0F;
};

// A named array that users brought for each utterance: [length, …] of one element type.
struct ArrayKind {
  std::string name;
  cache::ElementType element = cache::ElementType::kF32;
  std::uint32_t max_length = 0;       // first axis of the longest
  std::uint32_t values_per_step = 1;  // product of the other axes

  std::size_t bytes_per_step() const { return values_per_step * cache::element_bytes(element); }
};

// Reads utterances for one worker; keeps its scratch memory, so reading allocates nothing once
// warm. An Error whose code ends with exit 3 means that this utterance is bad; any other ends the
// run.
class UtteranceReader {
 public:
  virtual ~UtteranceReader() = default;
  // What is read next belongs to this epoch: augmentation is drawn anew in each.
  virtual void enter_epoch(std::uint64_t) {}
  // This utterance's mel is wanted next: lets its first bytes come while another utterance is read.
  virtual void prefetch(std::uint32_t) const {}
  virtual void prefetch_tokens(std::uint32_t) const {}
  // Returns the number of tokens; what is behind them is left alone.
  virtual Result<std::uint32_t> read_tokens(std::uint32_t utterance,
                                            std::span<std::int32_t> out) = 0;
  // Returns the number of frames, always what the utterance was planned with.
  virtual Result<std::uint32_t> read_mel(std::uint32_t utterance, const MelTarget& out,
                                         pipeline::FillContext& context) = 0;
  // The 16-bit samples that the mel would be made of, at most out.size(); returns their number,
  // always one that gives the frames the utterance was planned with.
  virtual Result<std::uint32_t> read_pcm(std::uint32_t utterance, std::span<std::int16_t> out,
                                         pipeline::FillContext& context) = 0;
  // The utterance's mel in that number format, or its samples, whole and checked in the source's
  // own memory: to be copied from there while the source exists. Empty where it must be read.
  virtual std::span<const std::byte> find_mel(std::uint32_t, config::MelDtype) { return {}; }
  virtual std::span<const std::byte> find_pcm(std::uint32_t) { return {}; }
  // Samples at the features' rate, at most out.size(); returns their number.
  virtual Result<std::uint32_t> read_audio(std::uint32_t utterance, std::span<float> out,
                                           pipeline::FillContext& context) = 0;
  // Since the last call.
  virtual ReadCounts take_counts() { return {}; }
  // Array number `array` of UtteranceSource::arrays(); returns its length, 0 where the utterance
  // has none.
  virtual Result<std::uint32_t> read_array(std::uint32_t, std::size_t, std::span<std::byte>) {
    return std::uint32_t{0};
  }
};

// Immutable while a feed runs; thread-safe.
class UtteranceSource {
 public:
  virtual ~UtteranceSource() = default;
  virtual std::uint32_t num_utterances() const = 0;
  virtual std::string_view id(std::uint32_t utterance) const = 0;
  virtual std::int32_t speaker(std::uint32_t utterance) const = 0;
  virtual std::int32_t language(std::uint32_t utterance) const = 0;
  // For messages and records; lives as long as the source.
  virtual std::string_view file(std::uint32_t utterance) const = 0;
  virtual std::uint64_t line(std::uint32_t utterance) const = 0;
  virtual std::uint32_t num_mels() const = 0;
  virtual std::uint32_t hop_samples() const = 0;
  virtual float padding() const = 0;
  virtual std::unique_ptr<UtteranceReader> make_reader() const = 0;
  virtual std::vector<ArrayKind> arrays() const { return {}; }
  virtual std::vector<FallbackCount> fallbacks() const { return {}; }
  // Asks the storage to have these utterances at hand soon; never waits for it, never fails.
  virtual void will_need(std::span<const std::uint32_t>) const {}
};

}  // namespace stoker::feed
