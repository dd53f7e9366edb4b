#include "stoker/cli/version_text.h"

#include "stoker/base/build_info.h"
#include "stoker/base/simd_level.h"

namespace stoker::cli {

std::vector<std::pair<std::string, std::string>> version_lines() {
  const BuildInfo build = build_info();
  return {{"version", std::string(build.version)},
          {"commit", std::string(build.commit)},
          {"compiler", std::string(build.compiler)},
          {"cuda", std::string(build.cuda)},
          {"libtorch", "not loaded"},
          {"simd", std::string(simd_level_name(simd_level().take_or_raise()))}};
}

}  // namespace stoker::cli
