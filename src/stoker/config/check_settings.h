// Checks how settings fit together, beyond the range of each.
#pragma once

#include "stoker/config/load.h"

namespace stoker::config {

// Throws ConfigError naming both keys, both values and where the first came from.
void check_settings(const LoadedSettings& loaded);

// For commands that write a cache, before any work: the folder is neither the data set itself nor
// the root, and can be made and written. Throws E-CONFIG-FOLDER.
void check_cache_folder(const std::string& cache_dir, const std::string& data_path);

}  // namespace stoker::config
