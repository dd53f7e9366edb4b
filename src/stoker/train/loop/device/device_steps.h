// Training on a GPU: packed steps, recorded and replayed, one fused update, and figures that arrive
// when the device has them. The host never waits and nothing is allocated once every shape was met.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stoker/feed/batch.h"
#include "stoker/train/loop/batch_tensors.h"
#include "stoker/train/loop/device/pinned_rings.h"
#include "stoker/train/loop/device/step_graphs.h"
#include "stoker/train/loop/device/step_inputs.h"
#include "stoker/train/loop/flat_update.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/model/tts_model.h"

namespace stoker::train {

// After this many updates without a value that is not finite the scale is doubled.
inline constexpr int kGrowthInterval = 2000;

// Scalars on the device; not defined: losses are not scaled.
struct ScaleTensors {
  at::Tensor scale;      // f32
  at::Tensor num_grown;  // i32
};

// What libtorch holds of the device, before some work and at most while it ran.
struct ReservedBytes {
  std::uint64_t before = 0;
  std::uint64_t most = 0;
};

// One thread; the learner's stream is current in every call. Model, update and scale are the
// learner's and outlive it.
class DeviceSteps {
 public:
  DeviceSteps(const LearnerOptions& options, const TensorRules& rules, const TtsModel& model,
              FlatUpdate& update, const ScaleTensors& scale);

  // As the learner's.
  void prepare(std::span<const StepShape> shapes);
  void forget_prepared();
  std::uint64_t held_bytes() const;
  void bound_bytes(std::uint64_t max_bytes) const;
  GraphFigures graph_figures() const { return graphs_ ? graphs_->figures() : GraphFigures{}; }
  std::uint64_t probe_bytes(const StepShape& shape);
  // Of work that leaves nothing on the device; waits. Only before the first batch.
  ReservedBytes probe(const std::function<void()>& work);
  void add_batch(feed::Batch batch, std::uint64_t batch_number);
  void update(double learning_rate, std::uint64_t update);
  std::vector<UpdateFigures> take_figures(Learner::Wait wait) { return ring_.take(wait); }
  // After another state was restored: nothing was added, nothing is pending.
  void start_anew();

 private:
  StepLedger* ledger() const;
  cuda::StreamView stream() const;
  StepWork work_of(const StepShape& shape, std::uint64_t batch_number);
  void compute(const PackedBatch& inputs, std::uint64_t batch_number);
  void try_once(const StepShape& shape);
  void save();  // what compute() changes,
  void undo();  // and back

  LearnerOptions options_;
  TensorRules rules_;
  const TtsModel& model_;
  FlatUpdate& update_;
  ScaleTensors scale_;
  at::Tensor ledger_, scratch_;  // bytes
  StepInputs inputs_;
  FigureRing ring_;
  std::optional<StepGraphs> graphs_;
  std::uint64_t num_added_ = 0;  // batches since the last update
  at::Tensor saved_ledger_, saved_gradients_;
};

}  // namespace stoker::train
