// What happened to one batch, from its plan to the consumer's last look at it: the fixed-size
// record that a feed writes for each and that other processes read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace stoker::feed {

// The order is that of a batch's way; the values are part of the file format.
enum class RecordStage : std::uint8_t {
  kPlan,
  kFetch,   // bytes from storage or cache
  kDecode,  // sound file to samples
  kResample,
  kMel,
  kText,
  kAugment,
  kAssemble,      // rows, optional parts and padding into the slot
  kWaitSlot,      // filled, and no slot of the device ring is free
  kCopy,          // host to device, by the device's own times where it has them
  kKernel,        // mel, augmentation and padding on the device
  kWaitConsumer,  // ready, and nobody asked
};
inline constexpr std::size_t kNumRecordStages = 12;
std::string_view name_of(RecordStage stage);  // "plan", "fetch", …

// What a consumer says it did between two batches beside its step.
enum class ConsumerWork : std::uint8_t { kLogging, kCheckpoint, kValidation, kSync, kOther };
inline constexpr std::size_t kNumConsumerWorks = 5;
std::string_view name_of(ConsumerWork work);  // "logging", "checkpoint", …

// Times are those of the steady clock in nanoseconds; 0 where a stage did not happen. Utterances
// take turns in a stage, so its busy time may be shorter than from begin to end.
struct StageSpan {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t busy_ns = 0;
};

struct BatchRecord {
  std::uint64_t number = 0;  // of all batches this feed has handed out, whatever was sought
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;  // in its epoch
  std::uint32_t shape = 0;  // index into Feed::shapes()
  std::uint32_t num_rows = 0;
  std::uint32_t num_frames = 0;     // true ones
  std::uint32_t padded_frames = 0;  // with padding
  std::uint32_t num_tokens = 0;
  std::int32_t worker = -1;     // -1: the consumer filled it itself
  std::int32_t core = -1;       // the worker's, at the end of its work
  std::uint32_t num_ready = 0;  // batches ready behind it when it was handed out
  std::uint32_t num_held = 0;   // batches in the consumer's hands then, this one among them
  std::uint32_t num_workers = 0;

  std::array<StageSpan, kNumRecordStages> stages{};
  // Processor time of the worker since it was last read, and its page faults: once a millisecond at
  // most, so that short batches share one reading; -1: not read. The rest of the time it waited.
  std::int64_t worker_cpu_ns = 0;
  std::uint64_t bytes_read = 0;  // from sound files and cache records
  std::uint32_t num_cache_hits = 0;
  std::uint32_t num_cache_misses = 0;
  std::uint32_t num_minor_faults = 0;
  std::uint32_t num_major_faults = 0;

  // The consumer: when it asked, got this batch and gave it back (0: it still holds it).
  std::int64_t asked_ns = 0;
  std::int64_t handed_ns = 0;
  std::int64_t released_ns = 0;
  std::int64_t consumer_cpu_ns = -1;  // of its thread since the hand-out before; -1: not known
  std::array<std::int64_t, kNumConsumerWorks> works_ns{};  // since the hand-out before

  // The utterance that took longest in one stage, its file cut at the front where it is long.
  std::int64_t slowest_ns = 0;
  std::uint32_t slowest_utterance = 0;
  RecordStage slowest_stage = RecordStage::kPlan;
  std::array<char, 123> slowest_file{};  // ends with 0

  // When this batch got its slot in GPU memory, the GPU still worked for the batch given back
  // before the last one (1), or had done so (0): then nothing waits there while the host prepares
  // its next step. Looked at now and then; -1: not.
  std::int64_t gpu_was_busy = -1;

  std::int64_t wait_ns() const { return handed_ns - asked_ns; }
};
static_assert(std::is_trivially_copyable_v<BatchRecord>);

}  // namespace stoker::feed
