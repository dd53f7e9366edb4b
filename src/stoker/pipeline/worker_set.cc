#include "stoker/pipeline/worker_set.h"

#include <algorithm>
#include <utility>

namespace stoker::pipeline {

WorkerSet::WorkerSet(unsigned num_workers, unsigned max_workers) {
  counts_.num_workers = num_workers;
  for (unsigned i = 0; i < max_workers; ++i) workers_.push_back(std::make_unique<Worker>());
}

void WorkerSet::set_num_workers(unsigned num_workers) {
  const unsigned num = std::min(num_workers, size());
  counts_.num_workers = num;
  counts_.num_idle =
      static_cast<unsigned>(std::count_if(workers_.begin(), workers_.begin() + num,
                                          [](const auto& worker) { return worker->is_idle; }));
}

void WorkerSet::end(unsigned worker) {
  workers_[worker]->has_ended = true;
  ended_.notify_all();
}

void WorkerSet::mark_idle(unsigned worker) {
  if (!workers_[worker]->is_idle && may_work(worker)) ++counts_.num_idle;
  workers_[worker]->is_idle = true;
}

void WorkerSet::mark_busy(unsigned worker) {
  if (workers_[worker]->is_idle && may_work(worker)) --counts_.num_idle;
  workers_[worker]->is_idle = false;
}

bool WorkerSet::answer_call(unsigned worker) {
  const bool was_called = std::exchange(workers_[worker]->is_called, false);
  if (was_called) --num_called_;
  return was_called;
}

std::optional<unsigned> WorkerSet::choose_idle() const {
  std::optional<unsigned> best;
  for (unsigned i = 0; i < counts_.num_workers; ++i) {
    const Worker& worker = *workers_[i];
    if (!worker.is_idle) continue;
    const bool is_due = best && i < kEvenWorkers && worker.num_claims < workers_[*best]->num_claims;
    if (!best || is_due) best = i;
  }
  return best;
}

bool WorkerSet::call_one() {
  const std::optional<unsigned> chosen = choose_idle();
  if (!chosen) return false;
  mark_busy(*chosen);
  workers_[*chosen]->is_called = true;
  ++num_called_;
  workers_[*chosen]->wake.notify_one();
  return true;
}

std::vector<bool> WorkerSet::await_ends(Lock& lock, const Clock& clock,
                                        std::chrono::nanoseconds limit) {
  const Deadline deadline = Deadline::after(clock, limit);
  const auto is_running = [](const auto& worker) { return worker->is_running(); };
  while (std::any_of(workers_.begin(), workers_.end(), is_running)) {
    if (limit.count() == 0) {
      ended_.wait(lock, {});
    } else if (ended_.wait_until(lock, {}, deadline) == WaitEnd::kDeadline) {
      break;
    }
  }
  std::vector<bool> running(workers_.size());
  std::transform(workers_.begin(), workers_.end(), running.begin(), is_running);
  return running;
}

}  // namespace stoker::pipeline
