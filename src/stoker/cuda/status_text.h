// What a status of the CUDA runtime means to a user; without CUDA there are only planted ones.
#pragma once

#include <string>

#include "stoker/base/error.h"

namespace stoker::cuda {

// Statuses that tests plant and that code asks for, with the runtime's numbers.
inline constexpr int kStatusMemory = 2;
inline constexpr int kStatusNoDevice = 100;
inline constexpr int kStatusIllegalAddress = 700;

// The runtime's own sentence and name: "out of memory (cudaErrorMemoryAllocation)".
std::string status_text(int status);

const ErrorCode* code_of(int status);

// The runtime keeps a failure until somebody asks; a reported one must not trip a later launch.
void forget_last_error() noexcept;

}  // namespace stoker::cuda
