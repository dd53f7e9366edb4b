// The messages of the door that are not settings: a failure as JSON and back, the same on both
// sides.
#pragma once

#include <functional>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/json.h"

namespace stoker::train {

// The event `error`: code, exit, file, line, column, byte, promised, found, action, cure (the
// code's own where the error has none), message.
Json error_event(const Error& error);

// The exception that is being handled, as an Error: what a Failure carries, E-TRAIN-MEMORY for
// memory that was refused, E-TRAIN-FAILED with the first line of its words for any other.
Error error_of_exception() noexcept;

// The code of that name, or null.
using FindCode = std::function<const ErrorCode*(std::string_view)>;

// Back from an event. A code that `find` does not know is the library's own: its name, exit code
// and cure as the event has them.
Error error_of_event(const Json& event, const FindCode& find);

}  // namespace stoker::train
