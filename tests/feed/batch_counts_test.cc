// The declared list reaches every counter, and keys of the reports are never given twice.
#include "stoker/feed/batch_counts.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace stoker::feed {
namespace {

TEST(BatchCountsTest, EveryFieldIsAddedAndRead) {
  BatchCounts once;
  std::uint64_t value = 1;
  for (const BatchCountField& field : kBatchCountFields) once.*field.member = value++;
  BatchTotals totals;
  totals.add(once);
  totals.add(once);
  BatchCounts sum = once;
  sum += once;
  value = 1;
  for (const BatchCountField& field : kBatchCountFields) {
    EXPECT_EQ(totals.now().*field.member, 2 * value);
    EXPECT_EQ(sum.*field.member, 2 * value);
    ++value;
  }
}

TEST(BatchCountsTest, PaddingIsTheShareOfFramesThatAreNone) {
  EXPECT_EQ(BatchCounts().padding_share(), 0);
  const BatchCounts counts{.true_frames = 30, .all_frames = 40};
  EXPECT_DOUBLE_EQ(counts.padding_share(), 0.25);
}

TEST(BatchCountsTest, NoTwoFieldsShareAKey) {
  std::set<std::string_view> of_stream, of_bench;
  for (const BatchCountField& field : kBatchCountFields) {
    EXPECT_TRUE(field.stream_key.empty() || of_stream.insert(field.stream_key).second);
    EXPECT_TRUE(field.bench_key.empty() || of_bench.insert(field.bench_key).second);
  }
  EXPECT_EQ(of_stream, (std::set<std::string_view>{"clips", "bad_rows"}));
  EXPECT_EQ(of_bench, (std::set<std::string_view>{"batches", "clips"}));
}

}  // namespace
}  // namespace stoker::feed
