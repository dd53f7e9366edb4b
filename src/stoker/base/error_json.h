// A failure for programs: the same keys wherever one is reported.
#pragma once

#include "stoker/base/error.h"
#include "stoker/base/json.h"

namespace stoker {

// code, file, line, column, byte, promised, found, action, message, help; those that are known.
Json error_json(const Error& error);

}  // namespace stoker
