// A store whose features take no time: shows what the way from filled slots to the GPU can do.
#pragma once

#include <memory>

#include "stoker/feed/source/data_set_source.h"
#include "stoker/feed/source/wrapped_source.h"

namespace stoker::feed {

// Rows have their true lengths and tokens; mels and samples are whatever the memory holds. For
// benchmarks.
class InstantSource final : public WrappedSource<DataSetSource> {
 public:
  using WrappedSource::WrappedSource;

  std::unique_ptr<UtteranceReader> make_reader() const override;
};

}  // namespace stoker::feed
