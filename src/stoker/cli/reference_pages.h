// The reference pages that only the whole program can write: error codes and commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"

namespace stoker::cli {

class Command;

struct CataloguedError {
  std::string_view folder;
  const ErrorCode* code;
};

// All error codes of all folders, by folder, in the order of their declaration; the build makes the
// list (error_catalogue.cc.in).
std::vector<CataloguedError> error_catalogue();

std::string errors_page();
// `app` is the program itself, with all its commands.
std::string commands_page(const Command& app);

}  // namespace stoker::cli
