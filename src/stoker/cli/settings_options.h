// Options for settings: names, help, defaults and units are read from the declarations.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stoker/config/check_settings.h"
#include "stoker/config/field_table.h"

namespace stoker::cli {

class Command;
class CommandContext;

// Adds the options of one setting under the heading `group`. What the user gives reaches
// context.settings(). Switches get an option for each direction; only the one that changes the
// default is shown in the help.
void add_setting_option(const Command& command, CommandContext& context,
                        const config::FieldInfo& field, const std::string& group);

// The same for several settings by path ("data.batch_size").
void add_setting_options(const Command& command, CommandContext& context,
                         std::span<const std::string_view> paths, const std::string& group);

// The data set as a plain argument: a folder or a metadata file, the same as --data.
void add_data_argument(const Command& command, CommandContext& context);

// What every command that runs a feed takes: the usual settings, shown in the help, and every other
// setting and flag of the programs of myxtts, not shown. Of two options of one name the command's
// own is taken.
void add_feed_options(const Command& command, CommandContext& context);

// Adds, not shown, the options of every setting that the command does not have yet, and the flags
// of the programs of myxtts. A setting that neither the index nor the cache reads gives one line.
void add_index_options(const Command& command, CommandContext& context);

// Programs of myxtts that ran a feed or a model.
inline constexpr std::string_view kOldPrograms =
    "train_main trainTestFile diagnose_gpu_bottleneck enhanced_gpu_profiler gpu_profiler "
    "test_performance";

// Adds to `command` every flag of the programs of myxtts that the command does not have itself:
// each translates into a setting or gives one notice. `programs` names them, separated by spaces:
// "train_main trainTestFile". Hidden from the help.
void add_old_flags(const Command& command, CommandContext& context, std::string_view programs);

// Which settings without effect a command tells of, by its full name ("bench feed").
config::CommandKind command_kind(std::string_view name);

// What a benchmark of training takes: the settings of a feed and of the model, shown, and every
// other one, not shown.
void add_train_bench_options(const Command& command, CommandContext& context);

// What `stoker train` takes: every setting.
void add_train_options(const Command& command, CommandContext& context);

}  // namespace stoker::cli
