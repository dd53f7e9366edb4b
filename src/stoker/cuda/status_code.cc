#include <algorithm>
#include <array>

#include "stoker/cuda/errors.h"
#include "stoker/cuda/status_text.h"

namespace stoker::cuda {
namespace {

// Numbers of cudaError_t: they are part of CUDA's interface and the same in every version.
constexpr std::array kNone{34, 46, 100, 101, 999};
constexpr std::array kDriver{35, 36, 803, 804};
constexpr std::array kArch{98, 209, 222, 300};
// After these the context is dead: every later call fails.
constexpr std::array kSticky{214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719};

template <class Numbers>
bool holds(const Numbers& numbers, int status) {
  return std::find(numbers.begin(), numbers.end(), status) != numbers.end();
}

}  // namespace

const ErrorCode* code_of(int status) {
  if (status == kStatusMemory) return &kCudaMemory;
  if (holds(kNone, status)) return &kCudaNone;
  if (holds(kDriver, status)) return &kCudaDriver;
  if (holds(kArch, status)) return &kCudaArch;
  return holds(kSticky, status) ? &kCudaSticky : &kCudaCall;
}

}  // namespace stoker::cuda
