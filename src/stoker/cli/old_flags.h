// Flags of the original's programs that stoker's commands accept.
#pragma once

#include <string_view>

namespace CLI {
class App;
}

namespace stoker::cli {

class CommandContext;

// All of them that ran a feed or a model.
inline constexpr std::string_view kOldPrograms =
    "train_main trainTestFile diagnose_gpu_bottleneck enhanced_gpu_profiler gpu_profiler "
    "test_performance";

// Adds to `command` every flag of the original's programs that the command does not have itself:
// each translates into a setting or gives one notice. `programs` names them, separated by spaces:
// "train_main trainTestFile". Hidden from the help.
void add_old_flags(CLI::App& command, CommandContext& context, std::string_view programs);

}  // namespace stoker::cli
