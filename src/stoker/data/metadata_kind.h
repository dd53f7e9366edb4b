// Judges by its name and first lines which rows a metadata file holds.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/data/index_options.h"

namespace stoker::data {

enum class LayoutKind { kPipes, kTable, kJson, kKaldi, kTextFiles };

// kPipes, kTable or kJson. E-DATA-LAYOUT names a file that holds no rows at all, such as a sound
// file or an archive.
Result<LayoutKind> metadata_kind(const File& file, const SourceOptions& source);

// The same for the first bytes of a file; `name` counts where they leave it open.
LayoutKind kind_of_rows(std::string_view name, std::string_view head, bool has_columns);

}  // namespace stoker::data
