// A trainer's step as a benchmark needs it: matrix products on the GPU, as many as a step takes.
#pragma once

#include <memory>

#include "stoker/cuda/stream.h"

namespace stoker::bench {

// bf16 products with f32 sums on the matrix units, about a tenth of a millisecond each. The kernels
// are our own, so that no library is needed.
class GemmStep {
 public:
  // Throws GpuError.
  explicit GemmStep(int device);
  ~GemmStep();

  // Chooses the number of products for a step of about this length; measured, returns what it
  // takes.
  double fit_to(double step_s, cuda::StreamView stream);
  // Asynchronous.
  void run(cuda::StreamView stream) const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
  int num_products_ = 1;
};

}  // namespace stoker::bench
