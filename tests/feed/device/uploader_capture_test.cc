// A CUDA graph captured in another thread while the feed runs: neither breaks the other.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "stoker/feed/feed.h"
#include "tests/doubles/gpu_present.h"
#include "tests/feed/device/gather_kernels.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

FeedSetup gpu_setup() {
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(60)));
  auto device = std::make_shared<DeviceSetup>();
  device->payload = SlotPayload::kRaggedMel;
  device->buffer_size = 3;
  device->memory_bytes = std::uint64_t{1} << 30U;
  device->make_kernels = [] { return std::make_unique<GatherKernels>(); };
  device->fallbacks = std::make_shared<Fallbacks>(FallbackPolicy::kRefuse);
  setup.device = device;
  return setup;
}

// Captures, instantiates and replays a graph of one fill again and again; counts those that worked.
int capture_graphs(cudaStreamCaptureMode mode, const std::atomic<bool>& stop) {
  cudaStream_t stream = nullptr;
  void* memory = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return -1;
  if (cudaMalloc(&memory, 4096) != cudaSuccess) return -1;
  int num_good = 0;
  while (!stop) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    bool is_good = cudaStreamBeginCapture(stream, mode) == cudaSuccess;
    is_good = is_good && cudaMemsetAsync(memory, 1, 4096, stream) == cudaSuccess;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the feed goes on meanwhile
    is_good = cudaStreamEndCapture(stream, &graph) == cudaSuccess && is_good;
    is_good = is_good && cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess;
    is_good = is_good && cudaGraphLaunch(ready, stream) == cudaSuccess;
    is_good = is_good && cudaStreamSynchronize(stream) == cudaSuccess;
    if (ready != nullptr) cudaGraphExecDestroy(ready);
    if (graph != nullptr) cudaGraphDestroy(graph);
    if (!is_good) return -1;
    ++num_good;
  }
  cudaFree(memory);
  cudaStreamDestroy(stream);
  return num_good;
}

using UploaderCaptureTest = cuda::GpuTest;

TEST_F(UploaderCaptureTest, FeedAndCaptureRunBesideEachOther) {
  for (const cudaStreamCaptureMode mode :
       {cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal}) {
    Feed feed(gpu_setup());
    const cuda::Stream stream(0);
    feed.next();  // warm: what allocates has allocated
    std::atomic<bool> stop{false};
    std::atomic<int> num_graphs{0};
    std::thread trainer([&] { num_graphs = capture_graphs(mode, stop); });
    for (int i = 0; i < 400; ++i) {
      auto batch = feed.next();
      if (!batch) continue;
      batch->wait(stream);
      batch->release(stream);
    }
    stop = true;
    trainer.join();
    EXPECT_GT(num_graphs, 0) << "capture mode " << mode;
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
}

}  // namespace
}  // namespace stoker::feed
