#include "stoker/pipeline/pipeline.h"

#include <algorithm>
#include <utility>

#include "stoker/pipeline/pipeline_core.h"

namespace stoker::pipeline {
namespace {

// Threads that hung in a system call when their pipeline ended, so that joining them would have
// hung too. Each shares ownership of all it may still touch. Those that came back meanwhile are
// joined when the process ends; the others are never waited for.
class LeftBehind {
 public:
  ~LeftBehind() {
    const Lock lock(mutex_);
    for (Entry& entry : entries_) {
      if (!entry.core->has_ended(entry.worker))
        static_cast<void>(std::make_unique<Thread>(std::move(entry.thread)).release());
    }
  }
  void add(Thread thread, std::shared_ptr<PipelineCore> core, unsigned worker) {
    const Lock lock(mutex_);
    entries_.push_back({std::move(core), worker, std::move(thread)});
  }

 private:
  struct Entry {
    std::shared_ptr<PipelineCore> core;
    unsigned worker;
    Thread thread;
  };
  Mutex mutex_;
  std::vector<Entry> entries_ STOKER_GUARDED_BY(mutex_);
};

LeftBehind& left_behind() {
  static LeftBehind threads;
  return threads;
}

PipelineOptions checked(PipelineOptions options) {
  options.depth = std::max(1U, options.depth);
  options.max_depth = std::max(options.max_depth, options.depth);
  options.max_workers = std::max({1U, options.max_workers, options.num_workers});
  return options;
}

}  // namespace

PipelineStats& PipelineStats::operator+=(const PipelineStats& later) {
  if (stages.empty()) stages = std::vector<StageTime>(later.stages.size());
  for (std::size_t i = 0; i < later.stages.size(); ++i)
    stages[i] = {later.stages[i].name, stages[i].busy_s + later.stages[i].busy_s};
  fills.resize(std::max(fills.size(), later.fills.size()));
  for (std::size_t i = 0; i < later.fills.size(); ++i) fills[i] += later.fills[i];
  num_delivered += later.num_delivered;
  num_ready = later.num_ready;
  num_asleep = later.num_asleep;
  consumer_wait_s += later.consumer_wait_s;
  num_stage_stalls += later.num_stage_stalls;
  return *this;
}

SlotLease::SlotLease(std::shared_ptr<PipelineCore> core, const Ticket& ticket)
    : core_(std::move(core)), ticket_(ticket) {}

SlotLease::SlotLease(SlotLease&& other) noexcept
    : core_(std::move(other.core_)), ticket_(other.ticket_) {}

SlotLease& SlotLease::operator=(SlotLease&& other) noexcept {
  if (this == &other) return *this;
  release();
  core_ = std::move(other.core_);
  ticket_ = other.ticket_;
  return *this;
}

SlotLease::~SlotLease() { release(); }

void SlotLease::release() noexcept {
  if (core_ == nullptr) return;
  core_->release(ticket_.slot);
  core_.reset();
}

Pipeline::Pipeline(std::shared_ptr<SlotFiller> filler, const PipelineOptions& options)
    : core_(std::make_shared<PipelineCore>(std::move(filler), checked(options))) {
  try {
    start_workers(options.num_workers);
    if (options.stall_limit.count() > 0) {
      watchdog_ =
          Thread("stoker-watch", [core = core_](const std::stop_token&) { core->run_watchdog(); });
    }
  } catch (...) {
    end_workers();
    throw;
  }
}

void Pipeline::start_workers(unsigned num_workers) {
  while (workers_.size() < num_workers) {
    const auto index = static_cast<unsigned>(workers_.size());
    workers_.emplace_back(
        "stoker-fill-" + std::to_string(index),
        [core = core_, index](const std::stop_token&) { core->run_worker(index); });
  }
}

Pipeline::~Pipeline() { end_workers(); }

// The threads hear the core's stop and no other.
void Pipeline::end_workers() {
  core_->stop();
  const std::vector<bool> running = core_->wait_for_workers();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (running[i]) left_behind().add(std::move(workers_[i]), core_, static_cast<unsigned>(i));
  }
}

SlotLease Pipeline::next(const std::stop_token& stop, const WaitPause* pause) {
  const std::optional<Ticket> ticket = core_->next(stop, pause);
  return ticket ? SlotLease(core_, *ticket) : SlotLease();
}

std::optional<std::uint32_t> Pipeline::peek() const { return core_->peek(); }

unsigned Pipeline::num_behind() const { return core_->num_behind(); }

Ending Pipeline::ending() const { return core_->ending(); }

void Pipeline::cancel() { core_->cancel(); }

void Pipeline::set_num_workers(unsigned num_workers) {
  try {
    start_workers(std::min(num_workers, core_->max_workers()));
  } catch (...) {
    core_->set_num_workers(static_cast<unsigned>(workers_.size()));
    throw;
  }
  core_->set_num_workers(num_workers);
}

unsigned Pipeline::num_workers() const { return core_->num_workers(); }

void Pipeline::set_depth(unsigned depth) { core_->set_depth(depth); }

PipelineStats Pipeline::stats() const { return core_->stats(); }

std::string Pipeline::debug_string() const { return core_->debug_string(); }

}  // namespace stoker::pipeline
