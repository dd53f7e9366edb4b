#include "stoker/pipeline/fill_runner.h"

#include <new>
#include <utility>

#include "stoker/base/invariant.h"
#include "stoker/pipeline/errors.h"

namespace stoker::pipeline {

FillRunner::FillRunner(std::shared_ptr<SlotFiller> filler, const Clock& clock, unsigned max_workers)
    : filler_(std::move(filler)),
      clock_(clock),
      max_workers_(max_workers),
      activities_(std::make_unique<Activity[]>(max_workers + 1)),
      times_(filler_->wants_times() ? std::make_unique<FillTimes[]>(max_workers + 1) : nullptr) {
  check_invariant(filler_->stages().size() <= kMaxStages, "at most kMaxStages stages");
}

FillOutcome FillRunner::run(FillContext::Seat seat, const std::stop_token& stop) {
  const unsigned place = std::min(seat.worker, max_workers_);
  Activity& activity = activities_[place];
  if (times_ != nullptr) seat.times = &times_[place];
  seat.is_caller = seat.worker == kCaller;
  if (seat.is_caller) seat.worker = 0;  // its scratch
  FillContext context(seat, activity, clock_, stop);
  const std::chrono::nanoseconds begun = clock_.now();
  activity.begin(seat.ticket.sequence, begun);
  if (seat.times != nullptr) seat.times->begin(begun);
  FillOutcome outcome;
  try {
    outcome.end = filler_->fill(context);
  } catch (const Failure& failure) {
    outcome.error = explain(failure.error(), activity);
  } catch (const std::bad_alloc&) {
    outcome.error = explain({.code = &kPipeMemory, .found = "out of memory"}, activity);
  } catch (const std::exception& exception) {
    outcome.error = explain({.code = &kPipeWorker, .found = exception.what()}, activity);
  } catch (...) {
    outcome.error = explain({.code = &kPipeWorker, .found = "an unknown exception"}, activity);
  }
  const std::chrono::nanoseconds ended = clock_.now();
  activity.finish(ended);
  if (seat.times == nullptr) return outcome;
  seat.times->end(ended);
  const bool is_filled = !outcome.error && outcome.end == FillEnd::kFilled;
  // One that was left behind comes back to a slot that may be another's by now.
  if (is_filled && !stop.stop_requested()) filler_->filled(context, *seat.times);
  return outcome;
}

// A worker must not end for want of the memory that the words take.
Error FillRunner::explain(const Error& error, const Activity& activity) const noexcept {
  try {
    return explained(error, activity);
  } catch (const std::bad_alloc&) {
    return {.code = &kPipeMemory};
  }
}

Error FillRunner::explained(Error error, const Activity& activity) const {
  if (error.place.file.empty()) error.place.file = item_name(activity);
  if (!error.action.empty()) error.action += "; ";
  error.action += "batch " + std::to_string(activity.sequence()) + " stopped in stage " +
                  std::string(stage_name(activity.stage()));
  return error;
}

std::string FillRunner::item_name(const Activity& activity) const {
  return activity.item() == kNoItem ? std::string() : filler_->name_item(activity.item());
}

std::string FillRunner::describe_stage(const Activity& activity) const {
  std::string text = "stage " + std::string(stage_name(activity.stage()));
  if (activity.item() != kNoItem) text += " of " + filler_->name_item(activity.item());
  return text;
}

std::string FillRunner::describe(unsigned worker) const {
  const std::string who = worker == kCaller ? "caller" : "worker " + std::to_string(worker);
  return who + " in " + describe_stage(activity_of(worker));
}

std::chrono::nanoseconds FillRunner::busy_time(std::size_t stage) const {
  std::chrono::nanoseconds busy{};
  for (unsigned i = 0; i <= max_workers_; ++i) busy += activities_[i].stage_time(stage);
  return busy;
}

}  // namespace stoker::pipeline
