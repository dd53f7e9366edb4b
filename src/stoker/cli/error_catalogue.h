// All error codes of all folders, for the reference page.
#pragma once

#include <string_view>
#include <vector>

#include "stoker/base/error.h"

namespace stoker::cli {

struct CataloguedError {
  std::string_view folder;
  const ErrorCode* code;
};

// By folder, in the order of their declaration.
std::vector<CataloguedError> error_catalogue();

}  // namespace stoker::cli
