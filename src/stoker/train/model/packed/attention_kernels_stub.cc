#include "stoker/cuda/errors.h"
#include "stoker/train/model/packed/attention_kernels.h"

namespace stoker::train {
namespace {

[[noreturn]] void refuse() {
  raise({.code = &cuda::kCudaNone, .found = "this stoker is built without CUDA"});
}

}  // namespace

void turn_heads(void*, ShortType, const HeadSize&, const PlacesView&, cuda::StreamView) {
  refuse();
}
void join_turned_back(const HeadGradients&, void*, ShortType, const HeadSize&, const PlacesView&,
                      cuda::StreamView) {
  refuse();
}
void zero_behind_rows(void*, std::int64_t, const PlacesView&, cuda::StreamView) { refuse(); }

}  // namespace stoker::train
