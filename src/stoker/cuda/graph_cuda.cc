#include "stoker/cuda/graph.h"

#include <cuda_runtime.h>

#include "stoker/cuda/check.h"

namespace stoker::cuda {
namespace {

// Ends the recording whatever happens in it, so that the stream can be used again.
cudaGraph_t record_graph(cudaStream_t stream, const std::function<void()>& work) {
  cudaGraph_t graph = nullptr;
  call("cudaStreamBeginCapture",
       [&] { return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal); });
  try {
    work();
  } catch (...) {
    check_quietly(static_cast<int>(cudaStreamEndCapture(stream, &graph)), "cudaStreamEndCapture");
    if (graph != nullptr)
      check_quietly(static_cast<int>(cudaGraphDestroy(graph)), "cudaGraphDestroy");
    throw;
  }
  call("cudaStreamEndCapture", [&] { return cudaStreamEndCapture(stream, &graph); });
  return graph;
}

}  // namespace

Graph Graph::record(StreamView stream, const std::function<void()>& work) {
  cudaGraph_t graph = record_graph(stream.handle(), work);
  cudaGraphExec_t executable = nullptr;
  const auto status = cudaGraphInstantiate(&executable, graph, 0);
  check_quietly(static_cast<int>(cudaGraphDestroy(graph)), "cudaGraphDestroy");
  call("cudaGraphInstantiate", [&] { return status; });
  return Graph(executable);
}

Graph::~Graph() {
  if (handle_ != nullptr) {
    check_quietly(static_cast<int>(cudaGraphExecDestroy(handle_)), "cudaGraphExecDestroy");
  }
}

void Graph::launch(StreamView stream) const {
  call("cudaGraphLaunch", [&] { return cudaGraphLaunch(handle_, stream.handle()); });
}

}  // namespace stoker::cuda
