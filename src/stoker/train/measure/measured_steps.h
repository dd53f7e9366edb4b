// Steps of a measured run: where their batches come from, and what each took.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "stoker/config/settings.h"
#include "stoker/feed/feed.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/loop/schedule.h"
#include "stoker/train/loop/training_run.h"
#include "stoker/train/measure/measured_figures.h"
#include "stoker/train/measure/resident_batches.h"

namespace stoker::train {

class StepSource {
 public:
  struct Step {
    StepShapes shapes{};
    feed::BatchCounts counts{};
    double data_s = 0;  // waited for batches
  };
  using AddBatch = std::function<void(feed::Batch)>;

  virtual ~StepSource() = default;
  // Adds the batches of one step. False at the end, and where a stop came between them.
  virtual bool take(Step& step, const AddBatch& add) = 0;
};

// As while training: a window of batches, or what the epoch has left.
class FedSteps final : public StepSource {
 public:
  FedSteps(feed::Feed& feed, std::int64_t num_batches, const TrainingHooks& hooks)
      : feed_(feed), num_batches_(static_cast<std::size_t>(num_batches)), hooks_(hooks) {}
  bool take(Step& step, const AddBatch& add) override;

 private:
  feed::Feed& feed_;
  std::size_t num_batches_;
  const TrainingHooks& hooks_;
};

// Steps of given shapes, again and again; those with a shape that no batch has are left out.
class ResidentSteps final : public StepSource {
 public:
  ResidentSteps(ResidentBatches& batches, std::vector<StepShapes> plan, const TrainingHooks& hooks);
  bool take(Step& step, const AddBatch& add) override;

 private:
  ResidentBatches& batches_;
  const TrainingHooks& hooks_;
  std::vector<StepShapes> plan_;
  std::size_t next_ = 0;
};

// Makes steps and times them: on the device's clock where the learner gives it, else the host's.
class StepTimer {
 public:
  StepTimer(Learner& learner, const config::Settings& settings, const TrainingHooks& hooks)
      : learner_(learner), hooks_(hooks), schedule_(schedule_of(settings.optimizer)) {}

  // False where the source has nothing more.
  bool step(StepSource& source);

  struct Timed {
    MeasuredWindow window;
    std::vector<StepShapes> plan;  // of its steps, in order
  };
  // Waits for every step; those since the last call, without the first of them, before which the
  // device had nothing to do.
  Timed finish();
  // Drops what was timed so far: steps from now on are a window's, without a break before them.
  void restart();

  const ShapeNumbers& shapes() const { return shapes_; }
  std::uint64_t num_steps() const { return num_steps_; }  // all, the warm-up's too
  std::uint64_t num_batches() const { return num_batches_; }

 private:
  struct Pending {
    StepSource::Step taken;
    double host_end_s = 0;
  };
  void settle(Learner::Wait wait);
  void add(const UpdateFigures& figures, const Pending& done);

  Learner& learner_;
  const TrainingHooks& hooks_;
  Schedule schedule_;
  ShapeNumbers shapes_;
  std::deque<Pending> pending_;
  std::size_t num_before_ = 0;  // of the pending ones, those before the window
  std::optional<double> last_end_s_;
  Timed timed_;
  std::uint64_t num_batches_ = 0, num_steps_ = 0;
};

}  // namespace stoker::train
