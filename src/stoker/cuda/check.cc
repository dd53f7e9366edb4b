#include "stoker/cuda/check.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

#include "stoker/base/log.h"
#include "stoker/cuda/errors.h"

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

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

struct CallCounter {
  std::atomic<std::uint64_t> num_calls{0};
  std::atomic<std::uint64_t> fail_at{kNever};
  std::atomic<int> status{0};
  std::atomic<bool> stays{false};
};

CallCounter& call_counter() {
  static CallCounter counter;
  return counter;
}

}  // namespace

const ErrorCode* code_of(int status) {
  if (status == kStatusMemory) return &kCudaMemory;
  if (holds(kNone, status)) return &kCudaNone;
  if (holds(kDriver, status)) return &kCudaDriver;
  if (holds(kArch, status)) return &kCudaArch;
  return holds(kSticky, status) ? &kCudaSticky : &kCudaCall;
}

void plant_call_fault(std::optional<CallFault> fault) {
  CallCounter& own = call_counter();
  own.fail_at = kNever;
  own.status = fault ? fault->status : 0;
  own.stays = fault && fault->stays;
  own.num_calls = 0;
  if (fault) own.fail_at = fault->at;
}

std::uint64_t num_calls() { return call_counter().num_calls; }

int planted_fault() noexcept {
  CallCounter& own = call_counter();
  const std::uint64_t number = own.num_calls.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t fail_at = own.fail_at.load(std::memory_order_relaxed);
  if (number < fail_at) return 0;
  return number == fail_at || own.stays ? own.status.load() : 0;
}

Error error_of(int status, std::string_view call, std::string_view detail) {
  std::string found(call);
  if (!detail.empty()) found.append(" (").append(detail).append(")");
  found += ": " + status_text(status);
  // The runtime reports one status whether the memory of the GPU or of the host is short.
  const bool is_pinned = status == kStatusMemory && call == "cudaHostAlloc";
  return {.code = is_pinned ? &kCudaPinned : code_of(status), .found = std::move(found)};
}

void check(int status, std::string_view call, std::string_view detail) {
  if (status == 0) return;
  forget_last_error();
  raise(error_of(status, call, detail));
}

void check_quietly(int status, std::string_view call) noexcept {
  static std::atomic<bool> was_said{false};
  if (status == 0 || was_said.exchange(true)) return;
  log(LogLevel::kWarning, "a GPU resource was not given back cleanly",
      {{"call", call}, {"status", status}});
}

}  // namespace stoker::cuda
