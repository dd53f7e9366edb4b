// A consumer with libtorch: the batch becomes a tensor without a copy, on torch's own stream.
//   find_package(Torch REQUIRED)
//   find_package(Stoker REQUIRED)
//   target_link_libraries(libtorch_consumer PRIVATE Stoker::stoker ${TORCH_LIBRARIES})
#include <ATen/DLConvertor.h>
#include <c10/cuda/CUDAStream.h>
#include <stoker/feed/dlpack.h>
#include <stoker/feed/feed.h>
#include <torch/torch.h>

#include <cstdio>
#include <memory>

namespace {

// Both sides follow the same binary interface; only the names of the C++ types differ.
torch::Tensor tensor_of(const std::shared_ptr<stoker::Batch>& batch, stoker::feed::BatchPart part,
                        stoker::cuda::StreamView stream) {
  auto* const managed = stoker::feed::export_dlpack(batch, part, stream);
  return at::fromDLPack(reinterpret_cast<DLManagedTensor*>(managed));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !torch::cuda::is_available()) {
    std::fprintf(stderr, "usage: libtorch_consumer DATA_FOLDER, on a machine with a GPU\n");
    return 2;
  }
  using stoker::feed::BatchPart;
  try {
    stoker::Feed feed = stoker::Feed::open({.data = argv[1], .device = stoker::Device::cuda(0)});
    torch::nn::Linear layer(80, 256);
    layer->to(torch::kCUDA, torch::kHalf);
    const stoker::cuda::StreamView stream(c10::cuda::getCurrentCUDAStream().stream());
    double sum = 0;
    while (auto next = feed.next()) {
      const auto batch = std::make_shared<stoker::Batch>(std::move(*next));
      const torch::Tensor mel = tensor_of(batch, BatchPart::kMel, stream);
      sum += layer(mel).mean().item<double>();
    }  // the last tensor gives the batch back, after the work of the stream
    std::printf("mean of means %f, state %s\n", sum, feed.state().c_str());
  } catch (const stoker::Failure& failure) {
    std::fprintf(stderr, "%s\n", stoker::error_line(failure.error()).c_str());
    return static_cast<int>(failure.exit_code());
  }
  return 0;
}
