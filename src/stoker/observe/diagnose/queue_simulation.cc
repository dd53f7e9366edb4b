#include "stoker/observe/diagnose/queue_simulation.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace stoker::observe {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kTick = 1e-12;  // of the time: below it a remainder is the rounding of sums

struct Worker {
  enum class Phase { kIdle, kBlocked, kComputing };
  Phase phase = Phase::kIdle;
  std::size_t batch = 0;
  double until_s = 0;  // blocked
  double left_s = 0;   // of processor time
};

class Simulation {
 public:
  Simulation(std::span<const SimulatedBatch> batches, const SimulatedFeed& feed)
      : batches_(batches),
        feed_(feed),
        num_held_(std::clamp(feed.num_held, 1U, feed.depth + 1)),
        workers_(feed.num_workers),
        filled_s_(batches.size(), kNever),
        num_skipped_(std::min<std::size_t>(feed.depth + feed.num_workers + 2, batches.size() / 4)) {
  }

  SimulatedRun run() {
    while (num_taken_ < batches_.size() || is_in_step_) {
      start_workers();
      if (take_if_ready()) continue;
      if (!advance()) break;
    }
    const auto counted = static_cast<double>(batches_.size() - num_skipped_);
    return {(now_s_ - start_s_) / counted, wait_s_ / counted};
  }

 private:
  // As the pipeline's rule: depth + 1 filled or being filled, depth + 2 slots in all.
  bool has_room() const {
    return next_ < batches_.size() && next_ < num_taken_ + feed_.depth + 1 &&
           next_ < num_released() + feed_.depth + 2;
  }
  std::size_t num_released() const {
    const std::size_t held = is_in_step_ ? num_held_ : num_held_ - 1;
    return num_taken_ > held ? num_taken_ - held : 0;
  }

  void start_workers() {
    for (Worker& worker : workers_) {
      if (worker.phase != Worker::Phase::kIdle) continue;
      if (!has_room()) return;
      const SimulatedBatch& batch = batches_[next_];
      const double ready_s = now_s_ + batch.blocked_s;
      double until_s = ready_s;
      if (batch.serial_s > 0) {
        serial_free_s_ = std::max(serial_free_s_, ready_s) + batch.serial_s;
        until_s = serial_free_s_;
      }
      worker = {Worker::Phase::kBlocked, next_, until_s, batch.cpu_s};
      ++next_;
    }
  }

  double ready_s(std::size_t batch) const {
    if (batch >= num_transferred_) return kNever;
    return transferred_s_[batch];
  }

  bool take_if_ready() {
    if (is_in_step_ || num_taken_ == batches_.size()) return false;
    if (ready_s(num_taken_) > now_s_ + tick_s()) return false;
    if (num_taken_ == num_skipped_) start_s_ = asked_s_;
    if (num_taken_ >= num_skipped_) wait_s_ += now_s_ - asked_s_;
    step_end_s_ = now_s_ + batches_[num_taken_].consumer_s;
    is_in_step_ = true;
    ++num_taken_;
    return true;
  }

  // A remainder that is lost when it is added to the time would never pass.
  double tick_s() const { return kTick * std::max(1.0, now_s_); }

  double rate() const {
    const auto computing = std::count_if(workers_.begin(), workers_.end(), [](const Worker& each) {
      return each.phase == Worker::Phase::kComputing;
    });
    return computing == 0 ? 1.0 : std::min(1.0, feed_.num_cores / static_cast<double>(computing));
  }

  double next_event_s(double rate) const {
    double next_s = is_in_step_ ? step_end_s_ : ready_s(num_taken_);
    for (const Worker& worker : workers_) {
      if (worker.phase == Worker::Phase::kBlocked) next_s = std::min(next_s, worker.until_s);
      if (worker.phase == Worker::Phase::kComputing)
        next_s = std::min(next_s, now_s_ + worker.left_s / rate);
    }
    return next_s;
  }

  // To the next event; false where nothing will ever happen.
  bool advance() {
    const double rate_now = rate();
    const double next_s = next_event_s(rate_now);
    if (next_s == kNever) return false;
    const double passed_s = std::max(0.0, next_s - now_s_);
    now_s_ = std::max(now_s_, next_s);
    for (Worker& worker : workers_) move(worker, passed_s * rate_now);
    transfer();
    if (is_in_step_ && step_end_s_ <= now_s_ + tick_s()) {
      is_in_step_ = false;
      asked_s_ = now_s_;
    }
    return true;
  }

  void move(Worker& worker, double computed_s) {
    if (worker.phase == Worker::Phase::kComputing) worker.left_s -= computed_s;
    if (worker.phase == Worker::Phase::kBlocked && worker.until_s <= now_s_ + tick_s())
      worker.phase = Worker::Phase::kComputing;
    if (worker.phase == Worker::Phase::kComputing && worker.left_s <= tick_s()) {
      filled_s_[worker.batch] = now_s_;
      worker.phase = Worker::Phase::kIdle;
    }
  }

  void transfer() {
    while (num_transferred_ < batches_.size() && filled_s_[num_transferred_] <= now_s_) {
      const double from_s = std::max(filled_s_[num_transferred_], transfer_free_s_);
      transfer_free_s_ = from_s + batches_[num_transferred_].transfer_s;
      transferred_s_.push_back(transfer_free_s_);
      ++num_transferred_;
    }
  }

  std::span<const SimulatedBatch> batches_;
  const SimulatedFeed& feed_;
  std::size_t num_held_;
  std::vector<Worker> workers_;
  std::vector<double> filled_s_, transferred_s_;
  std::size_t num_skipped_;
  std::size_t next_ = 0, num_taken_ = 0, num_transferred_ = 0;
  bool is_in_step_ = false;
  double now_s_ = 0, asked_s_ = 0, start_s_ = 0, step_end_s_ = 0, wait_s_ = 0;
  double serial_free_s_ = 0, transfer_free_s_ = 0;
};

// One after the other in the consumer's thread.
SimulatedRun simulate_alone(std::span<const SimulatedBatch> batches) {
  SimulatedRun run;
  for (const SimulatedBatch& batch : batches) {
    const double fill_s = batch.blocked_s + batch.serial_s + batch.cpu_s + batch.transfer_s;
    run.wait_s += fill_s;
    run.interval_s += fill_s + batch.consumer_s;
  }
  const auto count = static_cast<double>(batches.size());
  return {run.interval_s / count, run.wait_s / count};
}

}  // namespace

SimulatedRun simulate(std::span<const SimulatedBatch> batches, const SimulatedFeed& feed) {
  if (batches.empty()) return {};
  if (feed.num_workers == 0) return simulate_alone(batches);
  return Simulation(batches, feed).run();
}

}  // namespace stoker::observe
