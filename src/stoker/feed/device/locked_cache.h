// The mapped cache as memory that a GPU copies from: its rows need no second copy in host memory.
#pragma once

#include <memory>
#include <vector>

#include "stoker/cuda/locked_pages.h"
#include "stoker/feed/source/data_set_source.h"

namespace stoker::feed {

// The store must outlive it.
class LockedCache {
 public:
  // Null where that cannot be had or does not pay: a cache that is not mapped, is not in the page
  // cache now, or is too large a part of the machine's memory; a driver that refuses.
  static std::shared_ptr<const LockedCache> lock(const DataSetSource& store, cuda::DeviceApi& api);

  explicit LockedCache(std::vector<cuda::LockedPages> shards) : shards_(std::move(shards)) {}

 private:
  std::vector<cuda::LockedPages> shards_;
};

}  // namespace stoker::feed
