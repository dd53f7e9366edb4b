// A trainer's step as a benchmark needs it: matrix products on the GPU, as many as a step takes.
#pragma once

#include <memory>

#include "stoker/cuda/stream.h"

namespace stoker::bench {

// f16 products with f32 sums on the matrix units, about a tenth of a millisecond each, the last
// one less deep so that a step can have any length. The kernels are our own, so that no library is
// needed.
class GemmStep {
 public:
  // Throws GpuError.
  explicit GemmStep(int device);
  ~GemmStep();

  // Chooses the work of a step of about this length, measured on a GPU at its working clock.
  void fit_to(double step_s, cuda::StreamView stream);
  // As much work as now times `factor`, at least the smallest piece.
  void scale(double factor);
  // Asynchronous.
  void run(cuda::StreamView stream) const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
  int num_slices_ = 1;  // of depth, over all products
};

}  // namespace stoker::bench
