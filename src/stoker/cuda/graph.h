// Owner of a recorded run of launches: replaying it costs one call however many launches it holds.
#pragma once

#include <functional>
#include <utility>

#include "stoker/cuda/stream.h"

struct CUgraphExec_st;

namespace stoker::cuda {

// Replays only what was recorded: the same pointers, the same sizes.
class Graph {
 public:
  // Calls `work` while the stream records instead of running. Throws GpuError when something in it
  // cannot be recorded (an allocation, a wait).
  static Graph record(StreamView stream, const std::function<void()>& work);
  Graph(Graph&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Graph();

  void launch(StreamView stream) const;

 private:
  explicit Graph(CUgraphExec_st* handle) : handle_(handle) {}
  CUgraphExec_st* handle_ = nullptr;
};

}  // namespace stoker::cuda
