// cache.tier ram holds the cache within its bytes, once for all processes.
#include "stoker/feed/source/ram_tier.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

#include "stoker/cache/read/reader.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/open_feed.h"
#include "tests/doubles/log_lines.h"
#include "tests/feed/small_data_set.h"

namespace stoker::feed {
namespace {

// Lowers the limit of locked memory for one test. Root may lock whatever the limit says.
class LockedMemoryLimit {
 public:
  explicit LockedMemoryLimit(rlim_t size_bytes) {
    getrlimit(RLIMIT_MEMLOCK, &before_);
    const rlimit lowered{size_bytes, before_.rlim_max};
    setrlimit(RLIMIT_MEMLOCK, &lowered);
  }
  ~LockedMemoryLimit() { setrlimit(RLIMIT_MEMLOCK, &before_); }

 private:
  rlimit before_{};
};

void wait_until_complete(const RamTier& tier) {
  for (int i = 0; i < 10'000 && !tier.is_complete(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(tier.is_complete());
}

std::uint64_t shard_bytes(const cache::Reader& reader) {
  std::uint64_t sum = 0;
  for (const auto& shard : reader.mapped_shards()) sum += (shard.size() + 4095) / 4096 * 4096;
  return sum;
}

TEST(RamTierTest, HoldsTheWholeCacheWhereThereIsRoom) {
  const SmallDataSet set(40);
  const cache::Reader reader = cache::Reader::open(system_io(), set.build_cache()).take_or_raise();
  Fallbacks fallbacks(FallbackPolicy::kAllow);
  const RamTier tier(reader, std::uint64_t{1} << 30U, fallbacks);
  wait_until_complete(tier);
  EXPECT_EQ(tier.held_bytes(), shard_bytes(reader));
  EXPECT_TRUE(reader.is_resident(reader.record(cache::RecordKind::kMel, 0)));
}

TEST(RamTierTest, KeepsItsByteCap) {
  const SmallDataSet set(40);
  const cache::Reader reader = cache::Reader::open(system_io(), set.build_cache()).take_or_raise();
  const std::uint64_t most = shard_bytes(reader) / 2 + 100;
  Fallbacks fallbacks(FallbackPolicy::kAllow);
  const RamTier tier(reader, most, fallbacks);
  wait_until_complete(tier);
  EXPECT_EQ(tier.held_bytes(), most / 4096 * 4096);
}

TEST(RamTierTest, DeliversTheSameBytes) {
  SmallDataSet set(40);
  set.build_cache();
  const auto digest = [&] {
    OpenedFeed opened = open_feed(set.settings());
    std::string all;
    while (const auto batch = opened.feed.next()) all += batch->content_digest().hex();
    return all;
  };
  const std::string from_disk = digest();
  set.settings().cache.tier = config::CacheTier::kRam;
  EXPECT_EQ(digest(), from_disk);
  set.settings().cache.tier_memory = config::Bytes{config::kMiB};
  EXPECT_EQ(digest(), from_disk);
}

// The kernel's answer to a process without the right is known only where there is such a process.
TEST(RamTierTest, FallsBackToThePageCacheWhereLockingIsRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root may lock any amount";
  const SmallDataSet set(40);
  const cache::Reader reader = cache::Reader::open(system_io(), set.build_cache()).take_or_raise();
  const LockedMemoryLimit limit(4096);
  Fallbacks fallbacks(FallbackPolicy::kAllow);
  const RamTier tier(reader, std::uint64_t{1} << 30U, fallbacks);
  wait_until_complete(tier);
  EXPECT_FALSE(tier.is_locked());
  ASSERT_EQ(fallbacks.counts().size(), 1U);
  EXPECT_EQ(fallbacks.counts().front().to, "page cache");
  Fallbacks refused(FallbackPolicy::kRefuse);
  EXPECT_THROW(RamTier(reader, std::uint64_t{1} << 30U, refused), Failure);
}

}  // namespace
}  // namespace stoker::feed
