// Launches of kernels through the counted calls of the CUDA folder, so that tests can fail them.
#pragma once

#include <cuda_runtime_api.h>

#include "stoker/cuda/check.h"

namespace stoker::audio {

// launch("mix_kernel", [&] { mix_kernel<<<grid, threads, 0, stream>>>(job); });
template <class Launch>
void launch(const char* kernel, Launch&& make) {
  cuda::call(
      "cudaLaunchKernel",
      [&] {
        make();
        return cudaGetLastError();
      },
      kernel);
}

}  // namespace stoker::audio
