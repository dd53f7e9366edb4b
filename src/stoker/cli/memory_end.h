// Ends the program by name when memory runs out, wherever that happens.
#pragma once

namespace stoker::cli {

enum class MemoryReport { kText, kJson };

// From here on an allocation that fails ends the process with E-MEMORY and exit 5, at once: what
// would follow an exception is code of libraries too, whose destructors allocate or meet objects
// that are half made. Nothing on disk is lost by it: whatever is written there may end at any call.
// For the program only; a library leaves memory to its host.
void end_by_name_without_memory(MemoryReport report);

// What happens then.
[[noreturn]] void end_without_memory();

}  // namespace stoker::cli
