#include "stoker/bench/gemm_step.h"
#include "stoker/cuda/errors.h"

namespace stoker::bench {

struct GemmStep::Memory {};

GemmStep::GemmStep(int) {
  raise({.code = &cuda::kCudaNone, .found = "this stoker is built without CUDA"});
}
GemmStep::~GemmStep() = default;
double GemmStep::fit_to(double step_s, cuda::StreamView) { return num_products_ * step_s; }
void GemmStep::run(cuda::StreamView) const {}

}  // namespace stoker::bench
