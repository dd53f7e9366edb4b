#include <cuda_runtime_api.h>

#include "stoker/cuda/status_text.h"

namespace stoker::cuda {

std::string status_text(int status) {
  const auto error = static_cast<cudaError_t>(status);
  return std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ")";
}

void forget_last_error() noexcept { cudaGetLastError(); }

}  // namespace stoker::cuda
