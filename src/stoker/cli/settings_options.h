// Options for settings: names, help, defaults and units are read from the declarations.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stoker/config/field_table.h"
#include "stoker/config/check_settings.h"

namespace CLI {
class App;
}

namespace stoker::cli {

class CommandContext;

// Adds the options of one setting under the heading `group`. What the user gives reaches
// frame.settings(). Switches get an option for each direction; only the one that changes the
// default is shown in the help.
void add_setting_option(CLI::App& command, CommandContext& context, const config::FieldInfo& field,
                        const std::string& group);

// The same for several settings by path ("data.batch_size").
void add_setting_options(CLI::App& command, CommandContext& context,
                         std::span<const std::string_view> paths, const std::string& group);

// What every command that runs a feed takes: the usual settings, shown in the help, and every other
// setting and flag of the original's programs, not shown. Of two options of one name the command's
// own is taken.
void add_feed_options(CLI::App& command, CommandContext& context);

// Adds, not shown, the options of every setting that the command does not have yet, and the flags
// of the original's programs. A setting that neither the index nor the cache reads gives one line.
void add_index_options(CLI::App& command, CommandContext& context);

// Which settings without effect a command tells of, by its full name ("bench feed").
config::CommandKind command_kind(std::string_view name);

// What `stoker train` takes: every setting.
void add_train_options(CLI::App& command, CommandContext& context);

}  // namespace stoker::cli
