// The page of all error codes, made from the codes themselves.
#pragma once

#include <span>
#include <string>

#include "stoker/base/error.h"

namespace stoker {

// Rows of docs/reference/errors.md in the order of their names: code, exit code, meaning, cure.
// Two codes of one name are a bug.
std::string error_reference_rows(std::span<const ErrorCode* const> codes);

// The whole page: an introduction, the table of exit codes and the rows.
std::string error_reference_page(std::span<const ErrorCode* const> codes);

}  // namespace stoker
