// A stand-in for a trainer: takes batches as fast as they come, or one each step of a given length,
// and writes down what it waited for.
#pragma once

#include <cstdint>
#include <limits>
#include <stop_token>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/observe/batch_source.h"

namespace stoker::observe {

struct ConsumerOptions {
  double step_s = 0;               // length of a step; 0: as fast as possible
  double warm_s = 0;               // taken before anything is counted
  std::uint64_t warm_batches = 0;  // as well, whichever is longer
  double seconds = 1;              // counted
  std::uint64_t max_batches = std::numeric_limits<std::uint64_t>::max();
  std::stop_token stop = {};
  const Clock* clock = &system_clock();  // whose steps really pass; a test's must move by itself
};

// The counts are those of the batches taken, without the warm-up.
struct ConsumerReport : feed::BatchCounts {
  double wall_s = 0;
  double wait_s = 0;  // in take()
  // Processor time of all threads of the process, without what the stand-in itself spent on its
  // steps.
  double cpu_s = 0;
  std::vector<double> intervals_s;          // from one batch in hand to the next
  std::vector<std::uint64_t> epoch_ends{};  // index of the interval that follows an epoch's last

  double clips_per_s() const { return wall_s > 0 ? static_cast<double>(num_clips) / wall_s : 0.0; }
  double stall_share() const { return wall_s > 0 ? wait_s / wall_s : 0.0; }
};

// Lets a stand-in's steps pass as punctually as a GPU's: what is late then is the feed and not the
// thread's own waking up. One thread, whose scheduling it changes while it lives.
class StepPacer {
 public:
  explicit StepPacer(const Clock& clock = system_clock());
  ~StepPacer();
  StepPacer(const StepPacer&) = delete;
  StepPacer& operator=(const StepPacer&) = delete;

  double now_s() const;
  void pass_until(double until_s) const;

 private:
  const Clock& clock_;
  int slack_before_ns_;
  bool stays_awake_;
};

// Ends early when stopped or when the source has nothing more.
ConsumerReport run_consumer(BatchSource& source, const ConsumerOptions& options);

}  // namespace stoker::observe
