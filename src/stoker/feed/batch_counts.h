// What is counted of every batch, declared once: worker, feed, consumer and the JSON reports all go
// by this list.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stoker::feed {

// A new counter is a member here, a line of kBatchCountFields, and a line in the collator, which
// counts it.
struct BatchCounts {
  std::uint64_t num_batches = 0;
  std::uint64_t num_clips = 0;      // utterances; empty rows are none
  std::uint64_t num_empty_bad = 0;  // rows that are empty because their file turned bad
  std::uint64_t true_frames = 0;
  std::uint64_t all_frames = 0;  // with the padding

  BatchCounts& operator+=(const BatchCounts& more);

  double padding_share() const {
    return all_frames == 0
               ? 0.0
               : static_cast<double>(all_frames - true_frames) / static_cast<double>(all_frames);
  }
};

struct BatchCountField {
  std::uint64_t BatchCounts::*member;
  std::string_view stream_key;  // in the JSON of `stoker stream`; empty: not shown
  std::string_view bench_key;   // in that of `stoker bench feed`
};

inline constexpr std::array kBatchCountFields{
    BatchCountField{&BatchCounts::num_batches, "", "batches"},
    BatchCountField{&BatchCounts::num_clips, "clips", "clips"},
    BatchCountField{&BatchCounts::num_empty_bad, "bad_rows", ""},
    BatchCountField{&BatchCounts::true_frames, "", ""},
    BatchCountField{&BatchCounts::all_frames, "", ""},
};
static_assert(sizeof(BatchCounts) == kBatchCountFields.size() * sizeof(std::uint64_t),
              "every member of BatchCounts has a line in kBatchCountFields");

inline BatchCounts& BatchCounts::operator+=(const BatchCounts& more) {
  for (const BatchCountField& field : kBatchCountFields) this->*field.member += more.*field.member;
  return *this;
}

// Counts of all batches so far: one thread at a time adds without a lock, any thread reads.
//
// Memory orders: relaxed throughout. With one writer a load and a store are enough, and no reader
// concludes from one number what another must be: each is exact, together they may be one batch
// apart.
class BatchTotals {
 public:
  void add(const BatchCounts& counts) {
    for (std::size_t i = 0; i < kBatchCountFields.size(); ++i) {
      totals_[i].store(
          totals_[i].load(std::memory_order_relaxed) + counts.*kBatchCountFields[i].member,
          std::memory_order_relaxed);
    }
  }

  BatchCounts now() const {
    BatchCounts counts;
    for (std::size_t i = 0; i < kBatchCountFields.size(); ++i) {
      counts.*kBatchCountFields[i].member = totals_[i].load(std::memory_order_relaxed);
    }
    return counts;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kBatchCountFields.size()> totals_{};
};

}  // namespace stoker::feed
