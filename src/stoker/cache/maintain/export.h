// Writes the records of a cache as plain .npy files that every tool reads.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/progress.h"
#include "stoker/cache/read/reader.h"

namespace stoker::cache {

struct ExportOptions {
  std::vector<std::string> ids;  // empty: every record
  unsigned num_workers = 1;
  std::stop_token stop{};
  Progress* progress = &no_progress();
};

struct ExportReport {
  std::uint64_t num_files = 0;
  std::uint64_t size_bytes = 0;
};

// out/mel/<id>.npy, out/tokens/<id>.npy, out/pcm/<id>.npy, out/<array>/<id>.npy; every record is
// checked as it is read. bf16 is written as f32. Files that are there are replaced; a name means a
// whole file at every instant, whenever the export is killed. An id or an array's name that could
// lead out of `out` is refused with E-CACHE-NAME before anything is written. Throws what reading
// and writing raise.
ExportReport export_cache(const Reader& reader, Io& io, const std::string& out,
                          const ExportOptions& options);

}  // namespace stoker::cache
