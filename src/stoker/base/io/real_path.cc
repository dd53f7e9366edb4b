#include "stoker/base/io/real_path.h"

#include <system_error>

namespace stoker {

namespace fs = std::filesystem;

fs::path real_path(const fs::path& path) {
  std::error_code fault;
  fs::path absolute = fs::absolute(path, fault);
  // The working folder may be gone.
  if (fault || !absolute.is_absolute()) absolute = fs::path("/") / path;
  fs::path resolved = fs::weakly_canonical(absolute, fault);
  if (fault || resolved.empty()) resolved = absolute.lexically_normal();
  if (!resolved.has_relative_path()) return "/";
  // "/a/b/" and "/a/b" are the same path.
  return resolved.has_filename() ? resolved : resolved.parent_path();
}

fs::path nearest_existing(const fs::path& path) {
  fs::path folder = real_path(path);
  std::error_code ignored;
  while (folder.has_relative_path() && !fs::exists(folder, ignored)) folder = folder.parent_path();
  return folder;
}

}  // namespace stoker
