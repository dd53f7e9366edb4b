// Runs numbered pieces of work on several threads and brings the first failure back.
#pragma once

#include <cstddef>
#include <functional>

namespace stoker {

// Calls work(0) … work(num_items - 1), each once, in the calling thread when num_workers <= 1.
// After an exception, or when the system does not start a thread, no further item is begun; the
// first failure is thrown here once all have ended.
void run_parallel(unsigned num_workers, std::size_t num_items,
                  const std::function<void(std::size_t)>& work);

}  // namespace stoker
