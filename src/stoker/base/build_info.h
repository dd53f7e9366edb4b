// What this build is: version, commit, compiler and the parts compiled in, for --version and every
// saved file.
#pragma once

#include <string_view>

namespace stoker {

struct BuildInfo {
  std::string_view version;
  std::string_view commit;    // "unknown" outside a git checkout
  std::string_view compiler;  // "GNU 12.2.0"
  std::string_view cuda;      // toolkit version, or "none"
  std::string_view libtorch;  // version the trainer was built with, or "none"
};

BuildInfo build_info() noexcept;

}  // namespace stoker
