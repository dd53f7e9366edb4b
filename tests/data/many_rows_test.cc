// Row A23: millions of rows cost linear time and memory, duplicates included.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "tests/data/data_set.h"

namespace stoker::data {
namespace {

// LJSpeech-like rows: an id of 12 bytes and a text of about 100, written in large blocks.
void write_rows(const std::string& path, std::size_t num_rows) {
  std::ofstream out(path, std::ios::binary);
  const std::string words = " the quick brown fox jumps over the lazy dog, and once more over it.";
  std::string block;
  for (std::size_t i = 0; i < num_rows; ++i) {
    const std::string number = std::to_string(10'000'000 + i);
    block += "row_" + number + "|Row " + number + words + "|row " + number + words + "\n";
    if (block.size() > (1U << 20U)) {
      out << block;
      block.clear();
    }
  }
  out << block;
}

struct Cost {
  double seconds = 0;
  std::size_t memory_bytes = 0;
};

double thread_cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

Cost cost_of(std::size_t num_rows) {
  DataSet data;
  write_rows(data.folder / "metadata.csv", num_rows);
  data.options.check = FileCheck::kNone;
  const double before_s = thread_cpu_s();
  const Index index = data.scan();
  EXPECT_EQ(index.size(), num_rows);
  return {.seconds = thread_cpu_s() - before_s, .memory_bytes = index.memory_bytes()};
}

TEST(ManyRowsTest, TwiceTheRowsCostTwiceTheTimeAndMemory) {
  constexpr std::size_t kRows = 30'000;
  // The best of three: other work on the machine only ever adds.
  double ratio = 1e9;
  Cost small{}, large{};
  for (int attempt = 0; attempt < 3; ++attempt) {
    small = cost_of(kRows);
    large = cost_of(2 * kRows);
    ratio = std::min(ratio, large.seconds / small.seconds);
  }
  EXPECT_LE(ratio, 2.8);
  EXPECT_LE(static_cast<double>(large.memory_bytes), 2.1 * static_cast<double>(small.memory_bytes));
}

TEST(ManyRowsTest, ARowCostsAtMost400BytesBeyondItsText) {
  constexpr std::size_t kRows = 20'000;
  constexpr std::size_t kTextBytes = 2 * 82;
  EXPECT_LE(cost_of(kRows).memory_bytes / kRows, kTextBytes + 400);
}

}  // namespace
}  // namespace stoker::data
