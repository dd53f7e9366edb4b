// Names in the file system: the entries of a folder, paths that need not exist, and names of
// unfinished files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker {

// Sorted by name, without "." and "..". Symbolic links are listed as links. Through the seam for
// files: std::filesystem's iterators call terminate where memory is short, and tests could not fail
// them.
Result<std::vector<FolderEntry>> list_folder(const File& folder);

// What has this name, a link not followed; nothing where the name is not there. What cannot be
// looked at (EIO, EACCES) is an error and never taken for absent: a reader that went on would use
// other data than the user has.
Result<std::optional<FileInfo>> info_if_present(Io& io, int folder, const std::string& path);

// Whether this is a folder; precondition: links are resolved (real_path). Throws as above.
bool is_folder(Io& io, const std::filesystem::path& path);

// Absolute, without "." and "..", links resolved as far as the path exists; where the system
// refuses to follow it (loops, names too long) only the text is put in order. Never empty, never
// throws for what the path says.
std::filesystem::path real_path(const std::filesystem::path& path);

// The path itself or its nearest parent that is there; at the latest "/".
std::filesystem::path nearest_existing(const std::filesystem::path& path);

// "manifest" -> "manifest.tmp.5f0c…": 16 random hexadecimal digits. Never longer than a name may
// be: of a long one the end is left out.
std::string temp_name_for(std::string_view name);

// True for names made by temp_name_for, whose writer may be gone.
bool is_temp_name(std::string_view name) noexcept;

}  // namespace stoker
