#include "stoker/base/io/list_folder.h"

namespace stoker {

Result<std::vector<FolderEntry>> list_folder(const File& folder) {
  std::vector<FolderEntry> entries;
  const SysResult listed = folder.io().list(folder.handle(), entries);
  if (!listed.ok()) return io_error("list", folder.path(), listed.error_number);
  return entries;
}

}  // namespace stoker
