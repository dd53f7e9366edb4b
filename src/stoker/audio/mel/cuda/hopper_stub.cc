#include "stoker/audio/mel/cuda/kernels.h"
#include "stoker/base/invariant.h"

namespace stoker::audio::device {

bool has_hopper_kernels() { return false; }

MelKernel hopper_kernel(const MelKernelChoice& /*choice*/) {
  check_invariant(false, "a build without sm_90 has no Hopper kernels");
  return {};
}

}  // namespace stoker::audio::device
