// cache.tier ram: the cache held in memory once for all processes of the machine, as locked pages
// of its files.
#pragma once

#include <atomic>
#include <cstdint>

#include "stoker/base/thread/sync.h"
#include "stoker/cache/read/reader.h"
#include "stoker/config/sections/cache_settings.h"
#include "stoker/feed/fallbacks.h"

namespace stoker::feed {

// What cache.tier_memory gives; auto: half of what the machine has free.
std::uint64_t ram_tier_bytes(const config::CacheSettings& settings);

// Reads the mapped shards in a thread of its own and locks them, in their order, until `most_bytes`
// (whole pages) are held; batches flow meanwhile. Every process maps the same pages, so there is
// one copy of them. Where locking is not allowed the pages are only read (a fallback), and may be
// dropped again by the kernel. Both arguments must outlive it.
class RamTier {
 public:
  // Throws E-FEED-RAMTIER where locking is not allowed and fallbacks are refused.
  RamTier(const cache::Reader& reader, std::uint64_t most_bytes, Fallbacks& fallbacks);

  std::uint64_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }
  bool is_locked() const { return is_locked_; }
  bool is_complete() const { return is_complete_.load(std::memory_order_acquire); }

 private:
  int lock_pages() const;
  void hold(const std::stop_token& stop);

  const cache::Reader& reader_;
  const std::uint64_t most_bytes_;
  bool is_locked_ = true;
  std::atomic<std::uint64_t> held_bytes_{0};
  std::atomic<bool> is_complete_{false};
  Thread thread_;
};

}  // namespace stoker::feed
