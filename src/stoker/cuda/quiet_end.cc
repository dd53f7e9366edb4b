#include "stoker/base/error.h"
#include "stoker/cuda/event.h"
#include "stoker/cuda/stream.h"

namespace stoker::cuda {
namespace {

// Twice: one call may fail for a reason of its own while the work goes on.
template <class Synchronize>
void try_twice(const Synchronize& synchronize) noexcept {
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      return synchronize();
    } catch (const Failure&) {
      continue;
    }
  }
}

}  // namespace

void Stream::synchronize_quietly() const noexcept {
  try_twice([this] { synchronize(); });
}

void Event::synchronize_quietly() const noexcept {
  try_twice([this] { synchronize(); });
}

}  // namespace stoker::cuda
