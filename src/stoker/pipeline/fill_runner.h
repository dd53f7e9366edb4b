// Runs the user's filler for one ticket, and turns whatever it throws into an error that names
// batch, stage and file.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/pipeline/activity.h"
#include "stoker/pipeline/slot_filler.h"

namespace stoker::pipeline {

struct FillOutcome {
  FillEnd end = FillEnd::kFilled;
  std::optional<Error> error;
};

// Called by every worker and the consumer at once, each under its own number.
class FillRunner {
 public:
  static constexpr unsigned kCaller = std::numeric_limits<unsigned>::max();  // the consumer's

  FillRunner(std::shared_ptr<SlotFiller> filler, const Clock& clock, unsigned max_workers);

  // Never throws what the filler throws.
  FillOutcome run(FillContext::Seat seat, const std::stop_token& stop);

  const Activity& activity_of(unsigned worker) const {
    return activities_[std::min(worker, max_workers_)];
  }
  // "worker 0 in stage decode of a.wav"
  std::string describe(unsigned worker) const;
  // "stage decode of a.wav"
  std::string describe_stage(const Activity& activity) const;
  // Of the item being worked on; empty between items.
  std::string item_name(const Activity& activity) const;

  std::size_t num_stages() const { return filler_->stages().size(); }
  std::string_view stage_name(std::size_t stage) const { return filler_->stages()[stage]; }
  // By all together, so far.
  std::chrono::nanoseconds busy_time(std::size_t stage) const;

 private:
  Error explain(const Error& error, const Activity& activity) const noexcept;
  Error explained(Error error, const Activity& activity) const;

  const std::shared_ptr<SlotFiller> filler_;
  const Clock& clock_;
  const unsigned max_workers_;
  // One per worker, then the caller's; each is written by its thread alone.
  const std::unique_ptr<Activity[]> activities_;
  const std::unique_ptr<FillTimes[]> times_;  // as many; null where the filler wants none
};

}  // namespace stoker::pipeline
