// How the naive loader stands to the settings: which of its two ways it takes.
#pragma once

#include <string>

#include "stoker/base/io/io.h"
#include "stoker/base/simd_level.h"
#include "stoker/config/settings.h"

namespace stoker::feed {

struct NaiveChoice {
  config::Settings settings;  // for the store it looks through
  std::string npy_folder;     // empty: sound files
};

// `precompute` reads the .npy files beside the cache, `runtime` the sound files, `auto` the first
// where they are there. Throws E-FEED-NOTCACHED.
NaiveChoice choose_naive(const config::Settings& settings, SimdLevel level, Io& io);

}  // namespace stoker::feed
