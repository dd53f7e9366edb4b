#include "stoker/cuda/errors.h"
#include "stoker/train/loop/device/graph_memory.h"

namespace stoker::train {

struct GraphMemory::Pool {};

GraphMemory::GraphMemory(int) {
  raise({.code = &cuda::kCudaNone, .found = "a libtorch for the CPU alone"});
}
GraphMemory::~GraphMemory() = default;
GraphMemory::Scope::Scope(GraphMemory& memory, cuda::StreamView) : memory_(memory) {}
// NOLINTNEXTLINE(modernize-use-equals-default): as where there is a GPU
GraphMemory::Scope::~Scope() {}
void bound_torch_memory(int, double) {}
// NOLINTNEXTLINE(modernize-use-equals-default)
NoWaitScope::NoWaitScope() {}
// NOLINTNEXTLINE(modernize-use-equals-default)
NoWaitScope::~NoWaitScope() {}

}  // namespace stoker::train
