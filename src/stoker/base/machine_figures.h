// What the kernel tells about the machine while it runs: processor time, and memory that is free.
#pragma once

#include <cstdint>

namespace stoker {

double process_cpu_s() noexcept;
double thread_cpu_s() noexcept;
// Time that all cores of the machine together had nothing to do since it was started; 0 where /proc
// does not tell.
double machine_idle_s();

// Memory that the kernel calls available: free, or dropped without harm. 0 where /proc does not
// tell.
std::uint64_t available_memory_bytes();

}  // namespace stoker
