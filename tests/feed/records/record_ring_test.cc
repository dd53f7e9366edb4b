// The ring of records by itself: what is written is read, what is too old is lost, what is half
// written is never shown.
#include "stoker/feed/records/record_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "stoker/feed/records/record_reader.h"
#include "tests/feed/records/made_records.h"

namespace stoker::feed {
namespace {

TEST(RecordRingTest, WhatIsWrittenIsRead) {
  const auto ring = made_ring({.num_ahead = 4, .num_kept = 8});
  const RecordReader reader(ring);
  std::vector<BatchRecord> found;
  EXPECT_EQ(reader.read_since(0, found)->next, 0U);
  for (std::uint64_t number = 0; number < 5; ++number) put_and_hand_out(*ring, number);
  ring->give_back(1, 777);
  const RecordsRead read = *reader.read_since(0, found);
  EXPECT_EQ(read.next, 5U);
  EXPECT_EQ(read.num_lost, 0U);
  ASSERT_EQ(found.size(), 5U);
  for (std::uint64_t number = 0; number < 5; ++number) {
    EXPECT_TRUE(is_made(found[number], number));
    EXPECT_EQ(found[number].released_ns, number == 1 ? 777 : 0);
  }
  EXPECT_EQ(reader.read_since(5, found)->next, 5U);
  EXPECT_EQ(found.size(), 5U);
}

TEST(RecordRingTest, AFilledBatchIsNotShownBeforeItIsHandedOut) {
  const auto ring = made_ring({.num_ahead = 4, .num_kept = 8});
  for (std::uint64_t number = 0; number < 4; ++number) ring->put(made_record(number));
  std::vector<BatchRecord> found;
  EXPECT_EQ(RecordReader(ring).read_since(0, found)->next, 0U);
  EXPECT_TRUE(found.empty());
}

TEST(RecordRingTest, TheLastOnesAreKeptWhileOthersAreFilledAhead) {
  const auto ring = made_ring({.num_ahead = 3, .num_kept = 8});
  for (std::uint64_t number = 0; number < 3; ++number) ring->put(made_record(number));
  for (std::uint64_t number = 3; number < 40; ++number) {
    ring->hand_out(made_hand_out(number - 3));
    ring->put(made_record(number));
  }
  std::vector<BatchRecord> found;
  const RecordsRead read = *RecordReader(ring).read_since(0, found);
  EXPECT_EQ(read.next, 37U);
  EXPECT_EQ(read.num_lost, 29U);
  ASSERT_EQ(found.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_TRUE(is_made(found[i], 29 + i));
}

TEST(RecordRingTest, AHandOutTellsHowLongTheBatchWasReady) {
  const auto ring = made_ring({.num_ahead = 1, .num_kept = 4});
  ring->put(made_record(0));
  ring->put_ready(0, 500);
  ring->put_span(0, RecordStage::kCopy, {100, 300, 200});
  ring->put_work(ConsumerWork::kCheckpoint, 99);
  ring->hand_out({.asked_ns = 600, .handed_ns = 650, .num_ready = 3, .num_held = 2});
  std::vector<BatchRecord> found;
  ASSERT_TRUE(RecordReader(ring).read_since(0, found).ok());
  const BatchRecord& record = found.at(0);
  const auto span = [&](RecordStage stage) {
    return record.stages[static_cast<std::size_t>(stage)];
  };
  EXPECT_EQ(span(RecordStage::kWaitConsumer).begin_ns, 500);
  EXPECT_EQ(span(RecordStage::kWaitConsumer).end_ns, 650);
  EXPECT_EQ(span(RecordStage::kWaitConsumer).busy_ns, 150);
  EXPECT_EQ(span(RecordStage::kCopy).busy_ns, 200);
  EXPECT_EQ(record.works_ns[static_cast<std::size_t>(ConsumerWork::kCheckpoint)], 99);
  EXPECT_EQ(record.num_ready, 3U);
  EXPECT_EQ(record.num_held, 2U);
  EXPECT_EQ(record.wait_ns(), 50);
}

TEST(RecordRingTest, OneHeldForTooLongWritesIntoNoOther) {
  const auto ring = made_ring({.num_ahead = 0, .num_kept = 2});
  for (std::uint64_t number = 0; number < 5; ++number) put_and_hand_out(*ring, number);
  ring->give_back(0, 5);  // its place is that of number 4 by now
  ring->give_back(3, 33);
  std::vector<BatchRecord> found;
  ASSERT_TRUE(RecordReader(ring).read_since(3, found).ok());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].released_ns, 33);
  EXPECT_EQ(found[1].released_ns, 0);
}

// A worker, a consumer and somebody who gives back late, against two readers. Each record has one
// value all over, so that one of two halves would show.
TEST(RecordRingTest, ReadersNeverSeeHalfARecord) {
  constexpr std::uint64_t kNumbers = 3'000;
  const auto ring = made_ring({.num_ahead = 4, .num_kept = 16});
  std::atomic<std::uint64_t> num_put{0}, num_handed{0};
  std::atomic<bool> is_over{false};
  std::thread worker([&] {
    for (std::uint64_t number = 0; number < kNumbers; ++number) {
      while (number >= num_handed.load() + 4) std::this_thread::yield();
      ring->put(made_record(number));
      num_put.store(number + 1);
    }
  });
  std::thread consumer([&] {
    for (std::uint64_t number = 0; number < kNumbers; ++number) {
      while (number >= num_put.load()) std::this_thread::yield();
      ring->hand_out(made_hand_out(number));
      num_handed.store(number + 1);
      if (number >= 30) ring->give_back(number - 30, released_of(number - 30));
    }
    is_over = true;
  });
  const auto read = [&] {
    const RecordReader reader(ring);
    std::vector<BatchRecord> found;
    std::uint64_t next = 0;
    while (!is_over) {
      found.clear();
      next = reader.read_since(next, found)->next;
      for (const BatchRecord& record : found) {
        ASSERT_TRUE(is_made(record, record.number)) << record.number;
        ASSERT_LT(record.number, next);
      }
    }
  };
  std::thread first(read), second(read);
  for (std::thread* each : {&worker, &consumer, &first, &second}) each->join();
}

}  // namespace
}  // namespace stoker::feed
