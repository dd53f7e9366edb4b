#include "stoker/train/measure/measured_steps.h"

#include <algorithm>
#include <utility>

#include "stoker/base/clock.h"

namespace stoker::train {
namespace {

constexpr std::size_t kMostStepsAhead = 16;  // of the host before the device, as while training

void note(const feed::Batch& batch, StepSource::Step& step) {
  step.shapes.push_back(batch.shape());
  step.counts += batch.counts();
}

}  // namespace

bool FedSteps::take(Step& step, const AddBatch& add) {
  bool is_last = false;
  while (step.shapes.size() < num_batches_ && !is_last) {
    const Stopwatch waited(*hooks_.clock);
    std::optional<feed::Batch> batch = feed_.next(hooks_.stop);
    step.data_s += waited.seconds();
    if (hooks_.stop.stop_requested()) return false;
    if (!batch) {
      if (feed_.has_ended()) return false;
      continue;
    }
    is_last = batch->is_last_of_epoch();
    note(*batch, step);
    add(std::move(*batch));
  }
  return true;
}

ResidentSteps::ResidentSteps(ResidentBatches& batches, std::vector<StepShapes> plan,
                             const TrainingHooks& hooks)
    : batches_(batches), hooks_(hooks) {
  const std::vector<feed::BatchShape> known = batches.shapes();
  const auto is_known = [&known](const feed::BatchShape& shape) {
    return std::find(known.begin(), known.end(), shape) != known.end();
  };
  for (StepShapes& shapes : plan)
    if (std::all_of(shapes.begin(), shapes.end(), is_known)) plan_.push_back(std::move(shapes));
}

bool ResidentSteps::take(Step& step, const AddBatch& add) {
  if (plan_.empty() || hooks_.stop.stop_requested()) return false;
  for (const feed::BatchShape& shape : plan_[next_++ % plan_.size()]) {
    std::optional<feed::Batch> batch = batches_.lend(shape);
    note(*batch, step);
    add(std::move(*batch));
  }
  return true;
}

bool StepTimer::step(StepSource& source) {
  StepSource::Step taken;
  const auto add_batch = [this](feed::Batch batch) {
    learner_.add_batch(std::move(batch), num_batches_++);
  };
  if (!source.take(taken, add_batch)) return false;
  learner_.update(learning_rate(schedule_, ++num_steps_));
  const double now_s = std::chrono::duration<double>(hooks_.clock->now()).count();
  pending_.push_back({std::move(taken), now_s});
  settle(pending_.size() > kMostStepsAhead ? Learner::Wait::kOldest : Learner::Wait::kNo);
  return true;
}

StepTimer::Timed StepTimer::finish() {
  settle(Learner::Wait::kWait);
  last_end_s_.reset();
  return std::exchange(timed_, {});
}

void StepTimer::restart() {
  settle(Learner::Wait::kNo);
  num_before_ = pending_.size();
  timed_ = {};
}

void StepTimer::settle(Learner::Wait wait) {
  for (const UpdateFigures& figures : learner_.take_figures(wait)) {
    add(figures, pending_.front());
    pending_.pop_front();
  }
}

void StepTimer::add(const UpdateFigures& figures, const Pending& done) {
  const bool is_of_device = figures.ended_s > 0;
  const double end_s = is_of_device ? figures.ended_s : done.host_end_s;
  const std::optional<double> before_s = std::exchange(last_end_s_, end_s);
  if (num_before_ > 0) {
    --num_before_;
    return;
  }
  if (!before_s) return;
  timed_.window.has_device_clock = is_of_device;
  timed_.window.steps.push_back({.shape = shapes_.number(done.taken.shapes),
                                 .interval_s = end_s - *before_s,
                                 .data_s = done.taken.data_s,
                                 .compute_s = figures.compute_s,
                                 .is_skipped = figures.is_skipped,
                                 .counts = done.taken.counts});
  timed_.plan.push_back(done.taken.shapes);
}

}  // namespace stoker::train
