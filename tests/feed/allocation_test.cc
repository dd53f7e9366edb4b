// Nothing allocates per batch once the feed is warm: every operator new of the process is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "stoker/feed/feed.h"
#include "tests/feed/synthetic_source.h"

namespace {
std::atomic<std::uint64_t> num_allocations{0};
}  // namespace

// Not inlined, or g++ 13 takes the pair for a malloc with a foreign delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  num_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// What std::stable_sort takes: all of a family or none, or AddressSanitizer's own meets our delete.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  num_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace stoker::feed {
namespace {

TEST(AllocationTest, AWarmFeedAllocatesNothing) {
  for (const unsigned num_workers : {0U, 2U}) {
    FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(3000)));
    setup.loading.num_workers = num_workers;
    setup.loading.depth = 3;
    Feed feed(std::move(setup));
    // Warm: every worker has made its scratch memory, every slot has been used.
    for (int i = 0; i < 50 || feed.stats().pipeline.fills.back() == 0; ++i) {
      ASSERT_TRUE(feed.next().has_value());
    }
    // The next epoch is planned in the background, once; an allocation per batch would show in
    // every stretch.
    std::uint64_t fewest = ~std::uint64_t{0};
    for (int stretch = 0; stretch < 5 && fewest > 0; ++stretch) {
      const std::uint64_t before = num_allocations.load();
      for (int i = 0; i < 60; ++i) ASSERT_TRUE(feed.next().has_value());
      fewest = std::min(fewest, num_allocations.load() - before);
    }
    EXPECT_EQ(fewest, 0U) << num_workers << " workers";
  }
}

}  // namespace
}  // namespace stoker::feed
