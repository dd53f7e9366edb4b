// Names of unfinished files: recognisable as litter after a crash, and never the same twice.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

// "manifest" -> "manifest.tmp.5f0c…": 16 random hexadecimal digits. Never longer than a name may
// be: of a long one the end is left out.
std::string temp_name_for(std::string_view name);

// True for names made by temp_name_for, whose writer may be gone.
bool is_temp_name(std::string_view name) noexcept;

}  // namespace stoker
