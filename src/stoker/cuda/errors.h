// The failures of a GPU: which call, what it said, and what to do; all end with exit 6.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::cuda {

inline constexpr ErrorCode kCudaNone{
    "E-CUDA-NONE", ExitCode::kGpu,
    "A GPU was asked for and there is none that this process can use; the reason follows.",
    "use --device cpu, or check that `nvidia-smi` lists a GPU and this build has CUDA "
    "(`stoker --version`)"};
inline constexpr ErrorCode kCudaIndex{"E-CUDA-INDEX", ExitCode::kGpu,
                                      "The GPU of that number does not exist.",
                                      "`nvidia-smi -L` lists the GPUs; CUDA_VISIBLE_DEVICES hides "
                                      "and renumbers them"};
inline constexpr ErrorCode kCudaMemory{
    "E-CUDA-MEMORY", ExitCode::kGpu,
    "The GPU's memory does not hold what was asked for; the sizes are named.",
    "lower gpu.buffer_size, data.batch_frames or gpu.data_gpu_memory, or end the other programs on "
    "that GPU"};
inline constexpr ErrorCode kCudaPinned{
    "E-CUDA-PINNED", ExitCode::kGpu,
    "Page-locked host memory could not be had; copies would be slower without it.",
    "free memory, raise the memory limit of the container, or type --set gpu.pin_memory=false"};
inline constexpr ErrorCode kCudaSticky{
    "E-CUDA-STICKY", ExitCode::kGpu,
    "The GPU reported an error after which this process cannot use it any more.",
    "start the command again with the saved state; if it comes back, look at `dmesg` for Xid"};
inline constexpr ErrorCode kCudaDriver{"E-CUDA-DRIVER", ExitCode::kGpu,
                                       "The installed driver is too old for this build's CUDA.",
                                       "update the NVIDIA driver, or use --device cpu"};
inline constexpr ErrorCode kCudaArch{
    "E-CUDA-ARCH", ExitCode::kGpu, "This build has no kernels for the architecture of that GPU.",
    "build with that architecture in CMAKE_CUDA_ARCHITECTURES, or use --device cpu"};
inline constexpr ErrorCode kCudaCall{
    "E-CUDA-CALL", ExitCode::kGpu, "A call of the CUDA runtime failed; its name and words follow.",
    "run `stoker bench mel --device cuda`, which uses the GPU alone; if that fails too, look at "
    "`nvidia-smi` and `dmesg`"};
inline constexpr ErrorCode kCudaMel{
    "E-CUDA-MEL", ExitCode::kGpu,
    "Mels were to be made on the GPU, and other settings need them on the host.",
    "leave gpu.mel_place at auto, or leave out the setting named"};
inline constexpr ErrorCode kCudaName{"E-CUDA-NAME", ExitCode::kUsage,
                                     "The device is none of auto, cpu, cuda and cuda:N.",
                                     "write --device cuda:0 for the first GPU"};

inline constexpr std::array kErrorCodes{&kCudaNone,   &kCudaIndex,  &kCudaMemory, &kCudaPinned,
                                        &kCudaSticky, &kCudaDriver, &kCudaArch,   &kCudaCall,
                                        &kCudaMel,    &kCudaName};

}  // namespace stoker::cuda
