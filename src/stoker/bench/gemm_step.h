// A trainer's step as a benchmark needs it: matrix products on the GPU, as many as a step takes.
#pragma once

#include <cstdint>
#include <memory>

#include "stoker/cuda/stream.h"
#include "stoker/observe/step_clock.h"

namespace stoker::bench {

// f16 products with f32 sums on the matrix units, as a layer makes them: a row for every frame of a
// batch, so many that the blocks come in several waves. The kernels are our own, so that no library
// is needed.
class GemmStep {
 public:
  // Throws GpuError.
  explicit GemmStep(int device);
  ~GemmStep();

  // Chooses the work of a step of about this length, measured on a GPU at its working clock.
  void fit_to(double step_s, cuda::StreamView stream);
  // As much work as now times `factor`, at least the smallest piece.
  void scale(double factor);
  // Asynchronous. `mark`: in device memory and zero, or null.
  void run(cuda::StreamView stream, observe::StepMark* mark) const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
  int num_row_tiles_ = 1;  // over all products
};

}  // namespace stoker::bench
