#include "stoker/cli/version_text.h"

#include <filesystem>

#include "stoker/base/build_info.h"
#include "stoker/base/simd_level.h"
#include "stoker/train/door/loader.h"

namespace stoker::cli {
namespace {

std::string torch_version(TorchVersion torch) {
  if (torch == TorchVersion::kNotLoaded) return "not loaded (--verbose asks it)";
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto library = train::open_train_library(program.parent_path().string());
  return library ? library->torch_version() : "absent: " + library.error().found;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> version_lines(TorchVersion torch) {
  const BuildInfo build = build_info();
  return {{"version", std::string(build.version)},
          {"commit", std::string(build.commit)},
          {"compiler", std::string(build.compiler)},
          {"cuda", std::string(build.cuda)},
          {"libtorch", torch_version(torch)},
          {"simd", std::string(simd_level_name(simd_level().take_or_raise()))}};
}

}  // namespace stoker::cli
