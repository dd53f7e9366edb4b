#include "stoker/base/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace stoker {

void invariant_broken(std::string_view what, const std::source_location& at) {
  std::fprintf(stderr, "bug: %.*s (%s:%u)\n", static_cast<int>(what.size()), what.data(),
               at.file_name(), static_cast<unsigned>(at.line()));
  std::abort();
}

}  // namespace stoker
