// Processor time as the kernel counts it: of this process, of the calling thread, and what nobody
// used.
#pragma once

namespace stoker {

double process_cpu_s() noexcept;
double thread_cpu_s() noexcept;
// Time that all cores of the machine together had nothing to do since it was started; 0 where /proc
// does not tell.
double machine_idle_s();

}  // namespace stoker
