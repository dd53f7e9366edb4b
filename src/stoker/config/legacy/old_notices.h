// Names of the original that have no meaning here, each with the one line that says so.
#pragma once

#include <span>
#include <string_view>

namespace stoker::config {

struct OldNotice {
  std::string_view section;
  std::string_view names;  // separated by spaces
  std::string_view notice;
};

std::span<const OldNotice> old_notices();

}  // namespace stoker::config
