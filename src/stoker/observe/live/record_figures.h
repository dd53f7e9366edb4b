// From the records of a feed to the figures of a live view: totals that only rise, and what the
// last batches say.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "stoker/feed/records/batch_record.h"
#include "stoker/observe/live/live_figures.h"

namespace stoker::observe {

// Keeps the last records of the feed that is watched. One thread at a time.
class RecordFigures {
 public:
  static constexpr std::size_t kMostKept = 512;

  // Another feed from now on, which has handed out `num_before` batches whose records are gone.
  // Totals go on.
  void begin_feed(std::uint64_t num_before);
  // Records in their order.
  void add(const std::vector<feed::BatchRecord>& records, std::uint64_t num_lost);

  // `now` is the clock of the records; the interval ends there. The last batches are judged once a
  // second at most.
  void put(std::chrono::nanoseconds from, std::chrono::nanoseconds now, LiveFeed& into);

 private:
  void count(const feed::BatchRecord& record);
  void put_interval(std::int64_t from_ns, std::int64_t now_ns, LiveFeed& into);
  void put_recent(LiveFeed& into) const;
  void judge_recent();

  std::deque<feed::BatchRecord> recent_;
  FeedTotals totals_, shown_;  // now, and at the last look
  // Of the watched feed alone.
  bool is_first_ = true;  // nothing of it was shown yet
  std::int64_t first_asked_ns_ = 0;
  double feed_wait_s_ = 0;
  std::uint64_t num_new_ = 0;  // since they were judged
  std::int64_t judged_ns_ = 0;
  LoopVerdict verdict_ = LoopVerdict::kUnknown;
  std::string verdict_sentence_;
  struct TimedGap {
    std::int64_t at_ns = 0;
    LiveGap gap;
  };
  std::vector<TimedGap> gaps_;
};

}  // namespace stoker::observe
