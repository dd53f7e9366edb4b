// Fuzz target: bytes as a settings file, or as values of --set. What loads is whole: it can be
// written and loaded again with the same result; what does not ends in one error line.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/invariant.h"
#include "stoker/config/check_settings.h"
#include "stoker/config/load.h"
#include "stoker/config/settings_text.h"

namespace stoker::config {
namespace {

// The text as a file, since settings are loaded from files.
std::string memory_file(std::string_view text) {
  static const int handle = ::memfd_create("settings", MFD_CLOEXEC);
  check_invariant(::ftruncate(handle, 0) == 0, "a memory file");
  const auto written = ::pwrite(handle, text.data(), text.size(), 0);
  check_invariant(written == static_cast<ssize_t>(text.size()), "a memory file");
  return "/proc/self/fd/" + std::to_string(handle);
}

SettingsInputs inputs_of(std::uint8_t choice, std::string_view text) {
  SettingsInputs inputs;
  if (choice % 4 != 3) {
    inputs.file = memory_file(text);
    return inputs;
  }
  while (!text.empty()) {
    inputs.set.emplace_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), inputs.set.back().size() + 1));
  }
  return inputs;
}

void check_loaded(const LoadedSettings& loaded) {
  const std::string yaml = settings_yaml(loaded.settings);
  const LoadedSettings again = load_settings({.file = memory_file(given_yaml(loaded))});
  check_invariant(settings_yaml(again.settings) == yaml, "written settings load as others");
  for (const Affects group : {Affects::kFeatures, Affects::kText, Affects::kOrder})
    check_invariant(group_values(again.settings, group) == group_values(loaded.settings, group),
                    "written settings have other digests");
  check_invariant(no_effect_line(loaded, CommandKind::kTrain).find('\n') == std::string::npos,
                  "a notice of two lines");
}

}  // namespace
}  // namespace stoker::config

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  using namespace stoker;
  if (size_bytes == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size_bytes - 1);
  try {
    config::check_loaded(config::load_settings(config::inputs_of(data[0], text)));
  } catch (const ConfigError& refused) {
    check_invariant(error_line(refused.error()).find('\n') == std::string::npos,
                    "an error of two lines");
  }
  return 0;
}
