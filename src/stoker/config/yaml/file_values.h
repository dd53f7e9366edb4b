// Finds the name that each entry of a settings file, variable or option means.
#pragma once

#include <string>
#include <vector>

#include "stoker/config/layers.h"

namespace stoker::config {

// Each entry with its name. Keys known from a section that stand at the top are taken into it, with
// a line in `notices`. Throws E-CONFIG-UNKNOWN with the nearest name.
std::vector<GivenValue> file_values(const YamlNode& root, std::vector<std::string>& notices);

// STOKER_DATA__BATCH_SIZE -> data.batch_size. Variables that are no settings are left out; unknown
// ones are errors.
std::vector<GivenValue> environment_values(
    const std::vector<std::pair<std::string, std::string>>& environment);

std::vector<GivenValue> command_line_values(const std::vector<Assignment>& assignments);

// "data.batch_size=48"; a key without its section is taken into it.
std::vector<GivenValue> set_values(const std::vector<std::string>& set);

}  // namespace stoker::config
