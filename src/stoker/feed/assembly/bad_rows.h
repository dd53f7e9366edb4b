// The account of rows that turned bad while running: recorded once each, counted against the bound.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/thread/sync.h"

namespace stoker::feed {

struct BadRowLimits {
  std::uint64_t num_rows = 0;     // of the data set
  std::uint64_t already_bad = 0;  // rejected while indexing: they count against the same bound
  double max_bad_fraction = 0.01;
  std::uint64_t max_bad_rows = 8;  // always allowed
  bool fail_at_once = false;       // bad_inputs: fail
};

struct BadRow {
  std::uint32_t row = 0;
  std::string id;
  std::uint64_t line = 0;
  Error error;
};

// Thread-safe.
class BadRows {
 public:
  explicit BadRows(const BadRowLimits& limits) : limits_(limits) {}

  // Throws DataError E-FEED-BADROWS past the bound, or the row's own error with bad_inputs fail.
  void record(BadRow bad);

  std::uint64_t size() const;
  std::vector<BadRow> rows() const;  // by row index
  std::uint64_t allowed() const;

 private:
  const BadRowLimits limits_;
  mutable Mutex mutex_;
  std::map<std::uint32_t, BadRow> rows_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker::feed
