// The ring of records under seeded schedules: a worker, a consumer, one who gives back late and a
// reader, switched between any two of their steps. STOKER_TEST_SCHEDULES sets how many.
#include <gtest/gtest.h>

#include <cstdlib>

#include "stoker/base/thread/sync.h"
#include "stoker/feed/records/record_reader.h"
#include "tests/doubles/pct_scheduler.h"
#include "tests/feed/records/made_records.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kNumbers = 8;
constexpr RingSize kSize{.num_ahead = 1, .num_kept = 2};

std::uint64_t num_schedules(std::uint64_t usual) {
  const char* const text = std::getenv("STOKER_TEST_SCHEDULES");
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

// Numbers that went from one to the other.
class Passed {
 public:
  void await(std::uint64_t count) {
    Lock lock(mutex_);
    while (count_ < count) changed_.wait(lock, {});
  }
  void add() {
    const Lock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  std::uint64_t count_ STOKER_GUARDED_BY(mutex_) = 0;
};

void check(const RecordReader& reader, std::uint64_t& next, std::uint64_t& num_seen) {
  std::vector<BatchRecord> found;
  const RecordsRead read = *reader.read_since(next, found);
  ASSERT_EQ(read.next - next, found.size() + read.num_lost);
  for (const BatchRecord& record : found) {
    ASSERT_TRUE(is_made(record, record.number)) << "number " << record.number;
    ASSERT_TRUE(record.released_ns == 0 || record.released_ns == released_of(record.number));
    ASSERT_GE(record.number, next);
  }
  next = read.next;
  num_seen += found.size();
}

TEST(RecordScheduleTest, NoReaderSeesHalfARecordInAnySchedule) {
  std::uint64_t num_seen = 0;
  explore_schedules(num_schedules(1500), 1, [&](PctScheduler&) {
    const auto ring = made_ring(kSize);
    Passed filled, handed;
    const Thread worker("worker", [&](const std::stop_token&) {
      for (std::uint64_t number = 0; number < kNumbers; ++number) {
        handed.await(number < kSize.num_ahead ? 0 : number - kSize.num_ahead + 1);
        ring->put(made_record(number));
        filled.add();
      }
    });
    const Thread giver("giver", [&](const std::stop_token&) {
      for (std::uint64_t number = 0; number < kNumbers; ++number) {
        handed.await(number + 1);
        ring->give_back(number, released_of(number));
      }
    });
    const Thread watcher("reader", [&](const std::stop_token&) {
      const RecordReader reader(ring);
      std::uint64_t next = 0;
      for (int look = 0; look < 6; ++look) check(reader, next, num_seen);
    });
    for (std::uint64_t number = 0; number < kNumbers; ++number) {
      filled.await(number + 1);
      ring->hand_out(made_hand_out(number));
      handed.add();
    }
  });
  EXPECT_GT(num_seen, 0U);
}

}  // namespace
}  // namespace stoker::feed
