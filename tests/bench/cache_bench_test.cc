// The cache's benchmark makes its own cache, and refuses any other.
#include "stoker/bench/cache_bench.h"

#include <gtest/gtest.h>

#include "stoker/bench/errors.h"
#include "tests/feed/small_data_set.h"

namespace stoker::bench {
namespace {

TEST(CacheBenchTest, AFolderIsFilledOnceAndReadAgain) {
  const ScratchFolder folder;
  const CacheBenchOptions options{.folder = folder / "cache", .num_records = 70, .seconds = 0.02};
  const CacheBenchReport built = bench_cache(system_io(), options);
  EXPECT_EQ(built.num_records, 70U);
  EXPECT_GT(built.build_s, 0.0);
  const CacheBenchReport again = bench_cache(system_io(), options);
  EXPECT_EQ(again.build_s, 0.0);
  EXPECT_EQ(again.digest_f16, built.digest_f16);
}

TEST(CacheBenchTest, ACacheOfADataSetIsRefused) {
  const feed::SmallDataSet set(6);
  const CacheBenchOptions options{.folder = set.build_cache(), .seconds = 0.02};
  try {
    bench_cache(system_io(), options);
    FAIL() << "measured";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kBenchCache);
    EXPECT_EQ(failure.error().place.file, options.folder);
  }
}

}  // namespace
}  // namespace stoker::bench
