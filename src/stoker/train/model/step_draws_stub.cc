#include "stoker/cuda/errors.h"
#include "stoker/train/model/step_draws.h"

namespace stoker::train {
namespace {

[[noreturn]] void refuse() {
  raise({.code = &cuda::kCudaNone, .found = "this stoker is built without CUDA"});
}

}  // namespace

void fill_uniform(const DrawStream&, const DrawTarget&, cuda::StreamView) { refuse(); }
void fill_normal(const DrawStream&, const DrawTarget&, cuda::StreamView) { refuse(); }

}  // namespace stoker::train
