#include "stoker/cuda/errors.h"
#include "stoker/train/loop/device/fill_inputs.h"
#include "stoker/train/loop/device/update_flat.h"

namespace stoker::train {
namespace {

[[noreturn]] void refuse() {
  raise({.code = &cuda::kCudaNone, .found = "this stoker is built without CUDA"});
}

}  // namespace

void fill_inputs(const FillSource&, const FillTarget&, std::uint64_t, cuda::StreamView) {
  refuse();
}
bool is_device_memory(const void*) { return false; }
void begin_span(StepLedger*, cuda::StreamView) { refuse(); }
void add_figures(const LossPointers&, StepLedger*, cuda::StreamView) { refuse(); }
std::size_t update_scratch_bytes() { return 0; }
void update_flat(const FlatUpdateJob&, DeviceFigures*, cuda::StreamView) { refuse(); }

}  // namespace stoker::train
