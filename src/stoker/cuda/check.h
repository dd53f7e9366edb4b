// Every call of the CUDA runtime goes through here and is counted: failures become GpuError, and
// tests can make the Nth call fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

// A fault to plant: call number `at` (from 0, counted since planting) ends with `status`; with
// `stays` every later call does too, as after an error that kills the context.
struct CallFault {
  std::uint64_t at = 0;
  int status = 0;
  bool stays = false;
};

// For tests, from one thread while nothing else uses the GPU; nothing: calls go through untouched.
void plant_call_fault(std::optional<CallFault> fault);
// Calls since the last plant_call_fault().
std::uint64_t num_calls();

// Counts a call; not 0 when a planted fault replaces it.
int planted_fault() noexcept;

// The Error for a status of the runtime (a cudaError_t); `call` names the function, `detail` what
// was asked of it.
Error error_of(int status, std::string_view call, std::string_view detail = {});

// Throws GpuError unless `status` is 0.
void check(int status, std::string_view call, std::string_view detail = {});

// For destructors: logs the first failure of the process and goes on.
void check_quietly(int status, std::string_view call) noexcept;

// Every call of ours: call("cudaMalloc", [&] { return cudaMalloc(&memory, size_bytes); }).
template <class Call>
void call(std::string_view name, Call&& make, std::string_view detail = {}) {
  const int fault = planted_fault();
  check(fault != 0 ? fault : static_cast<int>(std::forward<Call>(make)()), name, detail);
}

}  // namespace stoker::cuda
