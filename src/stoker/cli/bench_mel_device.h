// `stoker bench mel --device cuda`: the GPU's half of the command.
#pragma once

#include <string>

#include "stoker/base/error.h"
#include "stoker/cli/command_context.h"

namespace stoker::cli {

struct MelDeviceArguments {
  std::string preset = "hifigan";  // or "all"
  std::string variant = "auto";
  int device = 0;
};

ExitCode run_device_mel_bench(CommandContext& context, const MelDeviceArguments& arguments);

}  // namespace stoker::cli
