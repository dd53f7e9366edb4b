// Which files the naive loader reads: the sound files, or one .npy file an utterance beside the
// cache, as loaders without a packed cache do.
#pragma once

#include <stop_token>
#include <string>

#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"

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

struct NaiveChoice {
  config::Settings settings;  // for the source it reads through
  std::string npy_folder;     // empty: sound files
};

// `precompute` reads the .npy files beside the cache, `runtime` the sound files, `auto` the first
// where they are there. Throws E-FEED-NOTCACHED.
NaiveChoice choose_naive(const config::Settings& settings, Io& io);

}  // namespace stoker::feed
