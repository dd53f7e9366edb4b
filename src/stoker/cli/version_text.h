// What --version says about this program and this machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace stoker::cli {

// Pairs of name and value, in the order shown. Loads neither CUDA nor libtorch.
std::vector<std::pair<std::string, std::string>> version_lines();

}  // namespace stoker::cli
