#include "stoker/feed/source/ram_tier.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "stoker/base/machine_figures.h"
#include "stoker/base/number_text.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
// Small enough that a stop is heard soon, large enough that storage is read in long runs.
constexpr std::uint64_t kStepBytes = std::uint64_t{8} << 20U;

// A byte cap below a page holds nothing.
std::uint64_t whole_pages(std::uint64_t size_bytes) { return size_bytes / kPageBytes * kPageBytes; }

void read_in(std::span<const std::byte> pages) {
  auto* const at = const_cast<std::byte*>(pages.data());
  // Kernels before 5.14 know no MADV_POPULATE_READ; asking for read-ahead is the next best.
  if (madvise(at, pages.size(), MADV_POPULATE_READ) != 0) madvise(at, pages.size(), MADV_WILLNEED);
}

// A shard's last page counts whole.
std::uint64_t page_bytes(std::uint64_t size_bytes) {
  return (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Calls work(pages) for the mapped shards, piece by piece, until `most_bytes` are used up or it
// returns false.
template <class Work>
void for_each_part(const cache::Reader& reader, std::uint64_t most_bytes, const Work& work) {
  std::uint64_t left = most_bytes;
  for (const std::span<const std::byte>& shard : reader.mapped_shards()) {
    for (std::uint64_t at = 0; at < shard.size() && left > 0;) {
      const std::uint64_t step = std::min({kStepBytes, shard.size() - at, left});
      if (!work(shard.subspan(at, step))) return;
      left -= page_bytes(step);
      at += step;
    }
  }
}

std::uint64_t wanted_bytes(const cache::Reader& reader, std::uint64_t most_bytes) {
  std::uint64_t bytes = 0;
  for (const std::span<const std::byte>& shard : reader.mapped_shards())
    bytes += page_bytes(shard.size());
  return std::min(bytes, most_bytes);
}

}  // namespace

std::uint64_t ram_tier_bytes(const config::CacheSettings& settings) {
  if (settings.tier_memory) return settings.tier_memory->count;
  return available_memory_bytes() / 2;
}

RamTier::RamTier(const cache::Reader& reader, std::uint64_t most_bytes, Fallbacks& fallbacks)
    : reader_(reader), most_bytes_(whole_pages(most_bytes)) {
  if (const int error_number = lock_pages(); error_number != 0) {
    is_locked_ = false;
    const std::string why = std::generic_category().message(error_number);
    if (!fallbacks.are_allowed())
      raise({.code = &kFeedRamTier,
             .promised = bytes_text(wanted_bytes(reader, most_bytes_)) + " of locked memory",
             .found = "none: " + why});
    fallbacks.take({"locked memory", "page cache", std::string(kFeedRamTier.name)},
                   "cache.tier ram: the cache cannot be locked in memory (" + why +
                       "); its pages are read but may be dropped again");
  }
  thread_ = Thread("stoker-ram", [this](const std::stop_token& stop) { hold(stop); });
}

// Locks without reading, so that a limit that is too low is known before the first batch. Returns
// the errno of what was refused, with nothing left locked.
int RamTier::lock_pages() const {
  int error_number = 0;
  for_each_part(reader_, most_bytes_, [&](std::span<const std::byte> pages) {
    if (mlock2(pages.data(), pages.size(), MLOCK_ONFAULT) == 0) return true;
    error_number = errno;
    return false;
  });
  if (error_number == 0) return 0;
  for (const std::span<const std::byte>& shard : reader_.mapped_shards())
    munlock(shard.data(), shard.size());
  return error_number;
}

void RamTier::hold(const std::stop_token& stop) {
  for_each_part(reader_, most_bytes_, [&](std::span<const std::byte> pages) {
    read_in(pages);
    held_bytes_.fetch_add(page_bytes(pages.size()), std::memory_order_relaxed);
    return !stop.stop_requested();
  });
  is_complete_.store(true, std::memory_order_release);
}

}  // namespace stoker::feed
