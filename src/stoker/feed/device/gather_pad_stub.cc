#include "stoker/cuda/errors.h"
#include "stoker/feed/device/gather_pad.h"

namespace stoker::feed {
namespace {

[[noreturn]] void refuse() {
  raise({.code = &cuda::kCudaNone, .found = "this stoker is built without CUDA"});
}

}  // namespace

void gather_pad_on_device(const GatherBatch&, cuda::StreamView) { refuse(); }
void load_gather_pad() { refuse(); }

}  // namespace stoker::feed
