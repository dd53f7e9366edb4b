// How fast the storage of a folder is, cold and warm, by files of our own that are written, read
// and removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/base/io/io.h"

namespace stoker::observe {

struct StorageFacts {
  std::string file_system{};  // as mounted; empty: not known
  double write_mb_per_s = 0;  // written and synced
  double warm_mb_per_s = 0;   // read back from the page cache
  // Read after our own pages were dropped; nothing where the file system keeps them all the same.
  std::optional<double> cold_mb_per_s{};
  double warm_files_per_s = 0;  // small files, opened and read one after the other
  std::optional<double> cold_files_per_s{};
  std::uint64_t free_bytes = 0;
};

// Writes and removes files of `size_bytes` together under `folder`, which exists. Fails with what
// the file system says.
Result<StorageFacts> measure_storage(Io& io, const std::string& folder, std::uint64_t size_bytes);

}  // namespace stoker::observe
