// Options for settings: names, help, defaults and units are read from the declarations.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stoker/config/field_table.h"

namespace CLI {
class App;
}

namespace stoker::cli {

class Frame;

// Adds the options of one setting under the heading `group`. What the user gives reaches
// frame.settings(). Switches get an option for each direction; only the one that changes the
// default is shown in the help.
void add_setting_option(CLI::App& command, Frame& frame, const config::FieldInfo& field,
                        const std::string& group);

// The same for several settings by path ("data.batch_size").
void add_setting_options(CLI::App& command, Frame& frame, std::span<const std::string_view> paths,
                         const std::string& group);

// What every command that runs a feed takes.
void add_feed_options(CLI::App& command, Frame& frame);

// What `stoker train` takes: every setting.
void add_train_options(CLI::App& command, Frame& frame);

}  // namespace stoker::cli
