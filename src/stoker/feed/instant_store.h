// A store whose features take no time: shows what the way from filled slots to the GPU can do.
#pragma once

#include <memory>

#include "stoker/feed/same_rows_store.h"
#include "stoker/feed/utterance_store.h"

namespace stoker::feed {

// Rows have their true lengths and tokens; mels and samples are whatever the memory holds. For
// benchmarks.
class InstantStore final : public SameRowsStore<UtteranceStore> {
 public:
  using SameRowsStore::SameRowsStore;

  std::unique_ptr<RowReader> make_reader() const override;
};

}  // namespace stoker::feed
