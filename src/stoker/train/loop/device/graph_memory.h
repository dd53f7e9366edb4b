// The memory that captured steps compute in: one pool of libtorch's allocator, which all of them
// share because only one runs at a time.
#pragma once

#include <memory>

#include "stoker/cuda/stream.h"

namespace stoker::train {

// One thread. Memory that was once taken stays until it is destroyed; no graph may run then.
class GraphMemory {
 public:
  // Throws GpuError where this libtorch knows no GPU.
  explicit GraphMemory(int device);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  // While it lives, what any thread of this process allocates for `stream` is of the pool.
  class Scope {
   public:
    Scope(GraphMemory& memory, cuda::StreamView stream);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    [[maybe_unused]] GraphMemory& memory_;  // not used where there is no GPU
  };

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

// What libtorch may hold of the GPU from now on, 0 … 1 of all there is; it fails to get more. No
// effect where libtorch knows no GPU.
void bound_torch_memory(int device, double share);

// While it lives a wait of libtorch's for the GPU, other than for an event, is an error: for tests
// that a step has none. No effect where libtorch knows no GPU.
class NoWaitScope {
 public:
  NoWaitScope();
  ~NoWaitScope();
  NoWaitScope(const NoWaitScope&) = delete;
  NoWaitScope& operator=(const NoWaitScope&) = delete;
};

}  // namespace stoker::train
