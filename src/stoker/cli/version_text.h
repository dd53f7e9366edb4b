// What --version says about this program and this machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace stoker::cli {

// Loading libtorch takes half a second, so only --version --verbose does it.
enum class TorchVersion { kNotLoaded, kLoad };

// Pairs of name and value, in the order shown.
std::vector<std::pair<std::string, std::string>> version_lines(TorchVersion torch);

}  // namespace stoker::cli
