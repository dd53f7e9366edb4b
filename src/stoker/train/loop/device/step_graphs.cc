#include "stoker/train/loop/device/step_graphs.h"

#include <c10/util/Exception.h>

#include <exception>

#include "stoker/cuda/check.h"

namespace stoker::train {
namespace {

// Libraries make their handles in the first run and choose their kernels in the second.
constexpr int kNumTrials = 2;

}  // namespace

StepGraphs::StepGraphs(int device, cuda::StreamView stream) : stream_(stream), memory_(device) {}

// In the pool too: the trials of a shape need the memory that its graph has afterwards.
void StepGraphs::try_out(const StepWork& work) {
  work.save();
  try {
    const GraphMemory::Scope in_pool(memory_, stream_);
    for (int i = 0; i < kNumTrials; ++i) work.compute();
  } catch (...) {
    work.undo();
    throw;
  }
  work.undo();
}

void StepGraphs::record(const StepShape& shape, const StepWork& work) {
  try {
    const GraphMemory::Scope in_pool(memory_, stream_);
    steps_[shape] = cuda::Graph::record(stream_, work.compute);
    ++figures_.num_captured;
  } catch (const c10::OutOfMemoryError&) {  // without a graph it would lack the memory as well
    cuda::forget_last_error();
    throw;
  } catch (const std::exception& error) {
    cuda::forget_last_error();
    steps_[shape] = std::nullopt;
    if (figures_.num_eager++ == 0) {
      const std::string words = error.what();
      figures_.reason = words.substr(0, words.find('\n'));
    }
  }
}

void StepGraphs::capture(const StepShape& shape, const StepWork& work) {
  const Stopwatch watch;
  try_out(work);
  record(shape, work);
  figures_.capture_s += watch.seconds();
}

void StepGraphs::run(const StepShape& shape, const StepWork& work) const {
  const std::optional<cuda::Graph>& graph = steps_.at(shape);
  if (graph) {
    graph->launch(stream_);
  } else {
    work.compute();
  }
}

}  // namespace stoker::train
