#include "stoker/feed/device/locked_cache.h"

#include <algorithm>
#include <span>

#include "stoker/base/error.h"
#include "stoker/base/free_memory.h"
#include "stoker/cuda/errors.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kMostShare = 4;  // at most a fourth of what the machine could give
constexpr std::uint32_t kLookedRows = 64;

// Locking reads every page: that is free only where they all are in memory.
bool is_in_memory(const DataSetSource& store) {
  const std::uint32_t step = std::max(1U, store.num_utterances() / kLookedRows);
  for (std::uint32_t row = 0; row < store.num_utterances(); row += step) {
    const RecordRoute& route = store.routes()[row];
    const auto& record = route.mel ? route.mel : route.pcm;
    if (record && !store.reader()->is_resident(*record)) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<const LockedCache> LockedCache::lock(const DataSetSource& store,
                                                     cuda::DeviceApi& api) {
  if (store.reader() == nullptr) return nullptr;
  const auto shards = store.reader()->mapped_shards();
  std::uint64_t total_bytes = 0;
  for (const std::span<const std::byte>& shard : shards) {
    if (shard.empty()) return nullptr;
    total_bytes += shard.size();
  }
  if (total_bytes > available_memory_bytes() / kMostShare || !is_in_memory(store)) return nullptr;
  try {
    std::vector<cuda::LockedPages> locked;
    locked.reserve(shards.size());
    for (const std::span<const std::byte>& shard : shards) locked.emplace_back(shard, api);
    return std::make_shared<LockedCache>(std::move(locked));
  } catch (const GpuError& failure) {
    if (failure.error().code == &cuda::kCudaSticky) throw;
    return nullptr;
  }
}

}  // namespace stoker::feed
