#include "stoker/cuda/check.h"

#include <atomic>
#include <limits>

#include "stoker/base/log.h"
#include "stoker/cuda/errors.h"
#include "stoker/cuda/status_text.h"

namespace stoker::cuda {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

struct Door {
  std::atomic<std::uint64_t> num_calls{0};
  std::atomic<std::uint64_t> fail_at{kNever};
  std::atomic<int> status{0};
  std::atomic<bool> stays{false};
};

Door& door() {
  static Door door;
  return door;
}

}  // namespace

void plant_call_fault(std::optional<CallFault> fault) {
  Door& own = door();
  own.fail_at = kNever;
  own.status = fault ? fault->status : 0;
  own.stays = fault && fault->stays;
  own.num_calls = 0;
  if (fault) own.fail_at = fault->at;
}

std::uint64_t num_calls() { return door().num_calls; }

int planted_fault() noexcept {
  Door& own = door();
  const std::uint64_t number = own.num_calls.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t fail_at = own.fail_at.load(std::memory_order_relaxed);
  if (number < fail_at) return 0;
  return number == fail_at || own.stays ? own.status.load() : 0;
}

Error error_of(int status, std::string_view call, std::string_view detail) {
  std::string found = std::string(call) + " said: " + status_text(status);
  return {.code = code_of(status), .promised = std::string(detail), .found = std::move(found)};
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
