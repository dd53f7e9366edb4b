// The entries of a folder, through the seam for files: std::filesystem's iterators call terminate
// where memory is short, and tests could not fail them.
#pragma once

#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker {

// Sorted by name, without "." and "..". Symbolic links are listed as links.
Result<std::vector<FolderEntry>> list_folder(const File& folder);

}  // namespace stoker
