// The reference page of all settings, docs/reference/settings.md.
#pragma once

#include <string>

namespace stoker::config {

// Markdown; the same bytes for the same declarations.
std::string settings_page();

}  // namespace stoker::config
