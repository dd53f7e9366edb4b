// The files that the naive loader reads: one .npy file per utterance beside the cache, as loaders
// without a packed cache use them.
#pragma once

#include <stop_token>
#include <string>

#include "stoker/base/io/io.h"

namespace stoker::feed {

struct NpyExportOptions {
  unsigned num_workers = 1;
  std::stop_token stop{};
};

// "<cache folder>-npy".
std::string npy_folder_of(const std::string& cache_folder);

// Whether every record of the cache as it is now is there.
bool has_npy_folder(Io& io, const std::string& cache_folder);

// Writes mel/<id>.npy and tokens/<id>.npy unless they are there already. Throws what reading and
// writing raise.
void export_npy_folder(Io& io, const std::string& cache_folder, const NpyExportOptions& options);

}  // namespace stoker::feed
