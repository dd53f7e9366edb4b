#include "stoker/train/door/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

std::vector<std::string> candidates(const std::string& program_folder) {
  if (const char* named = std::getenv("STOKER_TRAIN_LIBRARY"); named != nullptr && *named != '\0')
    return {named};
  const std::string name = "libstoker_train.so";
  return {program_folder + "/" + name, program_folder + "/lib/stoker/" + name,
          program_folder + "/../lib/stoker/" + name};
}

}  // namespace

std::string TrainLibrary::torch_version() const { return version_(); }

Result<TrainLibrary> open_train_library(const std::string& program_folder) {
  std::string tried;
  for (const std::string& path : candidates(program_folder)) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      tried += fmt::format("{}{}", tried.empty() ? "" : "; ", dlerror());
      continue;
    }
    void* call = dlsym(library, "stoker_train_torch_version");
    if (call != nullptr) return TrainLibrary(reinterpret_cast<TrainLibrary::VersionCall>(call));
    tried += fmt::format("{}{}: not a stoker train library", tried.empty() ? "" : "; ", path);
  }
  return Error{&kTrainLibrary, {}, "libstoker_train.so", "none; tried " + tried, "", ""};
}

}  // namespace stoker::train
