// Measures the cache: records into padded batches beside a plain copy of the same bytes in the same
// order, every checksum compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/base/philox.h"

namespace stoker::bench {

struct CacheBenchOptions {
  std::string folder;                 // a made-up cache is built there where none is
  std::size_t num_records = 13100;    // of 566 frames each: one clip
  unsigned num_threads = 1;           // measured beside one thread
  double seconds = 3.0;               // for all ways and thread counts together
  std::uint64_t seed = kDefaultSeed;  // decides the order
  std::stop_token stop{};
};

// One way of filling batches of 64 rows padded to 576 frames.
struct CacheBenchRow {
  std::string path;  // "memcpy", "mapped f16" …
  unsigned num_threads = 1;
  double clips_per_s = 0;         // best window
  double median_clips_per_s = 0;  // of all windows
  double read_gb_per_s = 0;       // in the best window
  double share_of_limit = 0;      // of the plain copy with as many threads
  double cpu_s_per_1000_clips = 0;
};

struct CacheBenchReport {
  std::vector<CacheBenchRow> rows;
  std::uint64_t num_records = 0;
  std::uint64_t size_bytes = 0;
  double build_s = 0;       // 0 when the cache was there
  double first_pass_s = 0;  // one epoch over a fresh mapping, one thread
  double verify_s = 0;      // every byte, num_threads threads
  Digest128 digest_f16;     // over one epoch in order: id, frames and valid values of each row
  Digest128 digest_f32;
  std::vector<std::string> order;  // ids as they were delivered
  std::string kernel;
};

// Throws E-BENCH-WRONG when a record is not what was stored.
CacheBenchReport bench_cache(Io& io, const CacheBenchOptions& options);

}  // namespace stoker::bench
