// Names for the driver's handles, so that headers of ours need not include CUDA's.
#pragma once

struct CUstream_st;
struct CUevent_st;

namespace stoker::cuda {

// The same types as cudaStream_t and cudaEvent_t: a handle from PyTorch or from plain CUDA fits.
using StreamHandle = CUstream_st*;
using EventHandle = CUevent_st*;

}  // namespace stoker::cuda
