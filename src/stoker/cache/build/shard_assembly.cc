#include "stoker/cache/build/shard_assembly.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "stoker/base/invariant.h"

namespace stoker::cache {

AssemblyLine::AssemblyLine(std::vector<ShardState*> todo, std::size_t max_in_flight)
    : todo_(std::move(todo)) {
  const Lock lock(mutex_);
  for (std::size_t i = 0; i < std::min(max_in_flight, todo_.size()); ++i) {
    assemblies_.push_back(std::make_unique<ShardAssembly>());
    free_.push_back(assemblies_.back().get());
  }
}

bool AssemblyLine::begin_shard() {
  if (free_.empty()) return false;
  current_ = free_.back();
  free_.pop_back();
  current_->state = todo_[next_shard_++];
  const std::size_t num_rows = current_->state->plan.num_rows;
  current_->rows.resize(std::max(current_->rows.size(), num_rows));
  current_->num_open = num_rows;
  next_row_ = 0;
  return true;
}

std::optional<AssemblyLine::Task> AssemblyLine::next_task() {
  Lock lock(mutex_);
  while (!is_over()) {
    if (current_ == nullptr && next_shard_ == todo_.size()) return std::nullopt;
    if (current_ != nullptr || begin_shard()) {
      const Task task{current_, next_row_++};
      if (next_row_ == current_->state->plan.num_rows) current_ = nullptr;
      ++num_busy_;
      return task;
    }
    changed_.wait(lock, {});
  }
  return std::nullopt;
}

void AssemblyLine::finish(const Task& task) {
  const Lock lock(mutex_);
  --num_busy_;
  const bool is_whole = --task.shard->num_open == 0;
  if (is_whole) whole_.push_back(task.shard);
  // Waking others for every row would cost more than the row's own bookkeeping.
  if (is_whole || is_over()) changed_.notify_all();
}

ShardAssembly* AssemblyLine::next_whole() {
  Lock lock(mutex_);
  while (failure_ == nullptr) {
    if (!whole_.empty()) {
      ShardAssembly* shard = whole_.front();
      whole_.erase(whole_.begin());
      return shard;
    }
    if (num_committed_ == todo_.size() || (stopped_ && num_busy_ == 0)) return nullptr;
    changed_.wait(lock, {});
  }
  return nullptr;
}

void AssemblyLine::give_back(ShardAssembly* shard) {
  const Lock lock(mutex_);
  free_.push_back(shard);
  ++num_committed_;
  changed_.notify_all();
}

void AssemblyLine::stop() {
  const Lock lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void AssemblyLine::fail(std::exception_ptr why) {
  const Lock lock(mutex_);
  if (failure_ == nullptr) failure_ = std::move(why);
  changed_.notify_all();
}

std::exception_ptr AssemblyLine::failure() const {
  const Lock lock(mutex_);
  return failure_;
}

bool AssemblyLine::stopped() const {
  const Lock lock(mutex_);
  return stopped_;
}

void AssemblyLine::enter() {
  const Lock lock(mutex_);
  ++num_inside_;
}

void AssemblyLine::leave() {
  const Lock lock(mutex_);
  check_invariant(num_inside_ > 0, "more workers left than entered");
  --num_inside_;
  ended_.notify_all();
}

bool AssemblyLine::wait_for_end() {
  Lock lock(mutex_);
  const Deadline deadline = Deadline::after(system_clock(), std::chrono::milliseconds(100));
  while (num_inside_ > 0)
    if (ended_.wait_until(lock, {}, deadline) == WaitEnd::kDeadline) return num_inside_ == 0;
  return true;
}

}  // namespace stoker::cache
