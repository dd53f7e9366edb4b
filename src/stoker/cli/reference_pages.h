// The reference pages that only the whole program can write: error codes and commands.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace stoker::cli {

std::string errors_page();
std::string commands_page(const CLI::App& app);

}  // namespace stoker::cli
