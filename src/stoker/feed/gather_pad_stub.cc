#include "stoker/cuda/errors.h"
#include "stoker/feed/gather_pad.h"

namespace stoker::feed {

void gather_pad_on_device(const GatherBatch&, cuda::StreamView) {
  raise({.code = &cuda::kCudaNone, .found = "this stoker is built without CUDA"});
}

}  // namespace stoker::feed
