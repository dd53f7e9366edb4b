// Loops that break a small build at every call of the file seam and look at what is left.
#pragma once

#include <cstdint>
#include <string>

#include "tests/doubles/fault_io.h"

namespace stoker::cache {

struct LoopResult {
  std::uint64_t num_rounds = 0;
  std::uint64_t num_broken = 0;        // rounds in which the fault struck
  std::uint64_t num_bad_accepted = 0;  // records a reader took although they are wrong
  std::uint64_t num_lost = 0;          // committed records that were not there any more
  std::uint64_t num_different = 0;     // caches that did not end with the expected bytes
  std::uint64_t num_false_success = 0;
  std::string first_problem;

  bool is_clean() const {
    return num_bad_accepted + num_lost + num_different + num_false_success == 0;
  }
};

struct LoopOptions {
  std::size_t num_rows = 20;
  unsigned num_workers = 1;
  std::uint64_t step = 1;  // every call, or every step-th
};

// SIGKILL before call 1, 2, 3 … of a build in a child process, then a look and a second build.
LoopResult kill_at_every_call(const LoopOptions& options);

// The fault at its 1st, 2nd, 3rd … matching call, until a build meets it no more.
LoopResult fail_at_every_call(const LoopOptions& options, Fault fault);

// A power cut after random steps of a build whose disk loses, tears and reorders what was not
// synced, for the seeds [0, num_seeds).
LoopResult cut_power(const LoopOptions& options, std::uint64_t num_seeds);

}  // namespace stoker::cache
