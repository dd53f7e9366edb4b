// The part of the core that looks on: watchdog, picture of the slots, statistics.
#include <algorithm>
#include <new>

#include "stoker/base/number_text.h"
#include "stoker/pipeline/errors.h"
#include "stoker/pipeline/pipeline_core.h"

namespace stoker::pipeline {
namespace {

double to_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void PipelineCore::run_watchdog() {
  const std::stop_token stop = stop_.get_token();
  const std::chrono::nanoseconds period = options_.stall_limit / 20;
  Lock lock(mutex_);
  while (!stop.stop_requested()) {
    watchdog_.wait_until(lock, stop, Deadline::after(clock_, period));
    try {
      watch(clock_.now());
    } catch (const std::bad_alloc&) {
      continue;  // the next look may find memory for its words
    }
  }
}

void PipelineCore::watch(std::chrono::nanoseconds now) {
  collect_returned();
  for (unsigned i = 0; i < workers_.size(); ++i) watch_worker(i, now);
  watch_leases(now);
}

void PipelineCore::watch_worker(unsigned index, std::chrono::nanoseconds now) {
  Worker& worker = *workers_[index];
  const Activity& activity = activity_of(index);
  const std::uint64_t progress = activity.progress();
  if (!activity.is_busy() || progress != worker.seen_progress) {
    worker.seen_progress = progress;
    worker.changed_at = now;
    worker.stall_counted = false;
    return;
  }
  const std::chrono::nanoseconds stood = now - worker.changed_at;
  if (stood >= options_.stall_limit / 6 && !worker.stall_counted) {
    worker.stall_counted = true;
    ++num_stage_stalls_;
  }
  // A look comes every twentieth of the limit: from here the next one would be past it.
  if (stood < options_.stall_limit - options_.stall_limit / 20) return;
  Error error{.code = &kPipeStall,
              .promised = "a step within " + seconds_text(to_seconds(options_.stall_limit)),
              .found = "worker " + std::to_string(index) + " stands in " + doing(activity) +
                       " since " + seconds_text(to_seconds(stood)) + " (" + picture_locked() + ")"};
  if (activity.item() != kNoItem) error.place.file = filler_->name_item(activity.item());
  fail_at(activity.sequence(), std::move(error));
}

void PipelineCore::watch_leases(std::chrono::nanoseconds now) {
  if (!waiting_since_ || !all_leased() || is_over()) return;
  if (now - *waiting_since_ < options_.stall_limit) return;
  fail_at(next_deliver_, {.code = &kPipeLeases, .found = picture_locked()});
}

std::string PipelineCore::doing(const Activity& activity) const {
  std::string text = "stage " + std::string(filler_->stages()[activity.stage()]);
  if (activity.item() != kNoItem) text += " of " + filler_->name_item(activity.item());
  return text;
}

std::string PipelineCore::debug_string() {
  const Lock lock(mutex_);
  collect_returned();
  return picture_locked();
}

std::string PipelineCore::picture_locked() const {
  std::string text;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.state == SlotState::kUnused) continue;
    text += (text.empty() ? "slot " : ", slot ") + std::to_string(i);
    const std::string number = " (" + std::to_string(slot.sequence) + ")";
    if (slot.state == SlotState::kFree) text += " free";
    if (slot.state == SlotState::kFilled) {
      text += (slot.sequence < next_deliver_ ? " leased" : " ready") + number;
    }
    if (slot.state != SlotState::kFilling) continue;
    const std::string who =
        slot.worker == kCaller ? "caller" : "worker " + std::to_string(slot.worker);
    text.append(" ")
        .append(who)
        .append(" in ")
        .append(doing(activity_of(slot.worker)))
        .append(number);
  }
  return text;
}

PipelineStats PipelineCore::stats() const {
  const Lock lock(mutex_);
  PipelineStats stats;
  const std::uint64_t next_deliver = next_deliver_;
  stats.num_delivered = next_deliver - options_.first_sequence;
  stats.num_stage_stalls = num_stage_stalls_;
  stats.num_asleep = num_idle_;
  stats.consumer_wait_s = to_seconds(consumer_wait_);
  for (std::uint64_t at = next_deliver; at < next_claim_; ++at) {
    if (ready_.find(at) == ReadyRing::kNotReady) break;
    ++stats.num_ready;
  }
  const auto stages = filler_->stages();
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    std::chrono::nanoseconds busy{};
    for (unsigned i = 0; i <= options_.max_workers; ++i) busy += activities_[i].stage_time(stage);
    stats.stages.push_back({stages[stage], to_seconds(busy)});
  }
  const unsigned shown = std::max(1U, num_workers_.load());
  for (unsigned i = 0; i < shown; ++i) stats.fills.push_back(activities_[i].num_fills());
  stats.fills[0] += activity_of(kCaller).num_fills();
  return stats;
}

}  // namespace stoker::pipeline
