#include "stoker/cuda/errors.h"
#include "stoker/cuda/graph.h"

namespace stoker::cuda {
namespace {

[[noreturn]] void refuse() {
  raise({.code = &kCudaNone,
         .place = {},
         .promised = "a GPU that replays launches",
         .found = "a build without CUDA",
         .action = {},
         .cure = {}});
}

}  // namespace

Graph Graph::record(StreamView /*stream*/, const std::function<void()>& /*work*/) { refuse(); }
// Never run: no Graph is ever made.
Graph::~Graph() { handle_ = nullptr; }
void Graph::launch(StreamView /*stream*/) const { refuse(); }

}  // namespace stoker::cuda
