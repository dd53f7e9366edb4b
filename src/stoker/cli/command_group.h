// Groups of commands (`stoker data …`) whose members live in files of their own.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace stoker::cli {

// The group called `name`, added with `description` where no file asked for it before.
CLI::App& command_group(CLI::App& app, const std::string& name, const std::string& description);

}  // namespace stoker::cli
