// Tells wrong bytes from bytes that could not be read just now: the one place that decides it.
#pragma once

#include "stoker/base/error.h"

namespace stoker::cache {

// A failure that says nothing about the content: no memory, no handles, no permission, a device or
// a network that answers with an error, an interrupted call. The same call may succeed later.
bool is_passing(const Error& error) noexcept;

// Whether the error shows that what is on disk is not what was committed: other bytes, another
// length, another file or none. Only such a shard or manifest may be withdrawn, replaced or counted
// as corrupt. Another format version is neither damage nor passing.
bool proves_damage(const Error& error) noexcept;

}  // namespace stoker::cache
