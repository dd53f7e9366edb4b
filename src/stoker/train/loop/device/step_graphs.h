// Steps recorded once for each shape and replayed: a launch costs the host the same however many
// kernels a step has.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/cuda/graph.h"
#include "stoker/cuda/stream.h"
#include "stoker/train/loop/device/graph_memory.h"
#include "stoker/train/loop/learner.h"

namespace stoker::train {

// What a step of one shape does. Every call does the same with the same memory, apart from what
// libtorch allocates for it.
struct StepWork {
  std::function<void()> compute;  // on the stream
  std::function<void()> save;     // what compute() changes, before it is tried,
  std::function<void()> undo;     // and back; both on the stream
};

// One thread, one stream.
class StepGraphs {
 public:
  StepGraphs(int device, cuda::StreamView stream);

  bool has(const StepShape& shape) const { return steps_.contains(shape); }
  // Tries the step twice and records it; where that cannot be done the shape stays eager, which is
  // counted. Throws what the trial throws: then the step cannot be done at all.
  void capture(const StepShape& shape, const StepWork& work);
  // Of a shape that was captured, or found not to be capturable.
  void run(const StepShape& shape, const StepWork& work) const;

  const GraphFigures& figures() const { return figures_; }

 private:
  void try_out(const StepWork& work);
  void record(const StepShape& shape, const StepWork& work);

  cuda::StreamView stream_;
  GraphMemory memory_;                                       // outlives the graphs
  std::map<StepShape, std::optional<cuda::Graph>> steps_{};  // none: eager
  GraphFigures figures_{};
};

}  // namespace stoker::train
