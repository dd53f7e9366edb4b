// A shared library that runs out of memory, linked with a C++ runtime of its own: what
// out_of_memory_test.cc opens.
#include <cstddef>
#include <new>

#include "stoker/base/out_of_memory.h"

namespace {

// As code does that allocates without operator new.
void refuse() { throw std::bad_alloc(); }
void fail_otherwise() { throw 1; }

// Not a constant, so that the compiler cannot see that the allocation fails.
volatile std::size_t g_too_much = ~std::size_t{0} / 4;

}  // namespace

extern "C" {

void own_runtime_set_out_of_memory(void (*end)()) { stoker::set_library_out_of_memory(end); }

void own_runtime_allocate() noexcept { ::operator delete(::operator new(g_too_much)); }

void own_runtime_throw() noexcept { refuse(); }

void own_runtime_throw_other() noexcept { fail_otherwise(); }
}
