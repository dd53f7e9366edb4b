// Says what is wrong with a command line in the words and shape of every other error.
#pragma once

#include "stoker/base/error.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace stoker::cli {

// The Error for what CLI11 refused; an unknown command or option comes with the nearest one known.
Error usage_error(const CLI::App& app, const CLI::ParseError& refused);

// The Error for a command line that stops before a command, with the commands to choose from.
Error no_command(const CLI::App& app);

}  // namespace stoker::cli
