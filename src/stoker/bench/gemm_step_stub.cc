#include "stoker/bench/gemm_step.h"
#include "stoker/cuda/errors.h"

namespace stoker::bench {

struct GemmStep::Memory {};

GemmStep::GemmStep(int) {
  raise({.code = &cuda::kCudaNone, .found = "this stoker is built without CUDA"});
}
GemmStep::~GemmStep() = default;
void GemmStep::fit_to(double, cuda::StreamView) {}
void GemmStep::scale(double) { num_row_tiles_ = 1; }
void GemmStep::run(cuda::StreamView, observe::StepMark*) const {}

}  // namespace stoker::bench
