// A consumer in plain CUDA: its own stream, its own kernel, batches that are on the GPU already.
//   nvcc -std=c++20 cuda_consumer.cu -lstoker -o cuda_consumer
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stoker/feed/feed.h>

#include <cstdio>

// The mean of each utterance's frames, as a stand-in for a model.
__global__ void mean_of_rows(const __half* mel, const int* mel_len, float* means, int frames,
                             int mels) {
  const __half* row = mel + static_cast<size_t>(blockIdx.x) * frames * mels;
  float sum = 0;
  const int count = mel_len[blockIdx.x] * mels;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += __half2float(row[i]);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xFFFFFFFFU, sum, step);
  if (threadIdx.x == 0) means[blockIdx.x] = count == 0 ? 0 : sum / static_cast<float>(count);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: cuda_consumer DATA_FOLDER\n");
    return 2;
  }
  constexpr int kMostRows = 4096;
  cudaStream_t stream = nullptr;
  float* means = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
      cudaMalloc(reinterpret_cast<void**>(&means), kMostRows * sizeof(float)) != cudaSuccess) {
    std::fprintf(stderr, "no GPU here\n");
    return 6;
  }
  try {
    stoker::Feed feed = stoker::Feed::open({.data = argv[1], .device = stoker::Device::cuda(0)});
    const stoker::cuda::StreamView own(stream);
    unsigned long long num_batches = 0;
    while (auto batch = feed.next()) {
      const auto mel = batch->mel();
      batch->wait(own);  // the stream waits on the GPU; this thread goes on
      mean_of_rows<<<static_cast<unsigned>(mel.shape[0]), 32, 0, stream>>>(
          static_cast<const __half*>(mel.data), batch->device_lengths().mel_len, means,
          static_cast<int>(mel.shape[1]), static_cast<int>(mel.shape[2]));
      batch->release(own);  // used again when the kernel is done
      ++num_batches;
    }
    cudaStreamSynchronize(stream);
    std::printf("%llu batches, state %s\n", num_batches, feed.state().c_str());
  } catch (const stoker::Failure& failure) {
    std::fprintf(stderr, "%s\n", stoker::error_line(failure.error()).c_str());
    return static_cast<int>(failure.exit_code());
  }
  cudaFree(means);
  cudaStreamDestroy(stream);
  return 0;
}
