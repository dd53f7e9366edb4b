// Completes the cache while a feed runs, so that the next run finds what this one had to compute.
#pragma once

#include "stoker/base/io/io.h"
#include "stoker/base/simd_level.h"
#include "stoker/base/thread/sync.h"
#include "stoker/config/settings.h"

namespace stoker::feed {

// Starts at construction with one thread of low priority; destruction stops it and keeps what is
// whole. Another builder's lock, or a folder that cannot be written, ends it with one line in the
// log. A cache that is not there yet is begun at `level`, that of the feed's own mels, so that the
// next run delivers the same.
class BackgroundBuild {
 public:
  BackgroundBuild(config::Settings settings, Io& io, SimdLevel level);

 private:
  Thread thread_;
};

}  // namespace stoker::feed
