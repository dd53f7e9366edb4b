#include "stoker/base/out_of_memory.h"

namespace stoker {
namespace {

struct Library;

}  // namespace

void set_library_out_of_memory(void (*end)()) { OutOfMemoryHandlers<Library>::set(end); }

}  // namespace stoker
