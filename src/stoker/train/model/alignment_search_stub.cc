#include "stoker/cuda/errors.h"
#include "stoker/train/model/alignment_search.h"

namespace stoker::train {
namespace {

[[noreturn]] void refuse() {
  raise({.code = &cuda::kCudaNone, .found = "this stoker is built without CUDA"});
}

}  // namespace

std::size_t alignment_scratch_bytes(const AlignmentBatch&) { return 0; }

void search_alignment(const AlignmentBatch&, void*, cuda::StreamView) { refuse(); }
void pull_to_diagonal(const PulledScores&, const DiagonalPull&, cuda::StreamView) { refuse(); }

}  // namespace stoker::train
