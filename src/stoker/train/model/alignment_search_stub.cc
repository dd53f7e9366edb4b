#include "stoker/cuda/errors.h"
#include "stoker/train/model/alignment_search.h"

namespace stoker::train {

std::size_t alignment_scratch_bytes(const AlignmentBatch&) { return 0; }

void search_alignment(const AlignmentBatch&, const DeviceSearch&, cuda::StreamView) {
  raise({.code = &cuda::kCudaNone, .found = "this stoker is built without CUDA"});
}

}  // namespace stoker::train
