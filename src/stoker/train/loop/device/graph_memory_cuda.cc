#include <ATen/cuda/MemPool.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <exception>
#include <string>

#include "stoker/base/log.h"
#include "stoker/train/loop/device/graph_memory.h"

namespace stoker::train {

namespace allocator = c10::cuda::CUDACachingAllocator;

struct GraphMemory::Pool {
  explicit Pool(int device) : pool(make(device)) {}

  static at::cuda::MemPool make(int device) {
    const c10::cuda::CUDAGuard on_device(static_cast<c10::DeviceIndex>(device));
    return {nullptr, /*is_user_created=*/false};
  }

  at::cuda::MemPool pool;
};

GraphMemory::GraphMemory(int device) : pool_(std::make_unique<Pool>(device)) {}
GraphMemory::~GraphMemory() = default;

GraphMemory::Scope::Scope(GraphMemory& memory, cuda::StreamView stream) : memory_(memory) {
  at::cuda::MemPool& pool = memory.pool_->pool;
  allocator::beginAllocateToPool(pool.device(), pool.id(),
                                 [mine = stream.handle()](cudaStream_t of) { return of == mine; });
}

GraphMemory::Scope::~Scope() {
  at::cuda::MemPool& pool = memory_.pool_->pool;
  try {
    allocator::endAllocateToPool(pool.device(), pool.id());
    allocator::releasePool(pool.device(), pool.id());
  } catch (const std::exception& error) {
    log(LogLevel::kWarning, std::string("libtorch: ") + error.what());
  }
}

void bound_torch_memory(int device, double share) {
  allocator::setMemoryFraction(share, static_cast<c10::DeviceIndex>(device));
}

NoWaitScope::NoWaitScope() {
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR);
}
NoWaitScope::~NoWaitScope() {
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED);
}

}  // namespace stoker::train
