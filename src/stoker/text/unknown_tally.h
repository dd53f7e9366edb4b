// Counts what the texts of a data set held outside the vocabulary, each symbol named once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/thread/sync.h"
#include "stoker/text/tokenizer.h"

namespace stoker::text {

// Thread-safe.
class UnknownTally {
 public:
  struct Entry {
    std::string symbol;
    std::uint64_t count = 0;
    Place first;  // the row with the smallest line, whichever thread came first
  };

  // Takes over what tokenising the row at `place` found. Cheap when it found nothing.
  void note(const TokenizeScratch& scratch, const Place& place);

  // Sorted by symbol.
  std::vector<Entry> entries() const;
  // Control, bidirectional and zero-width characters that were left out.
  std::uint64_t num_removed() const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, Entry> entries_ STOKER_GUARDED_BY(mutex_);
  std::uint64_t num_removed_ STOKER_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker::text
