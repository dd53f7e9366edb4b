// Following a ring through everything that can happen to it: not there yet, begun, ended, killed,
// replaced, damaged, one of several.
#include "stoker/observe/live/feed_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "stoker/feed/records/record_ring.h"
#include "tests/doubles/fake_clock.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::observe {
namespace {

namespace fs = std::filesystem;
using feed::RecordRing;

constexpr feed::RingSize kSize{.num_ahead = 2, .num_kept = 8};

std::unique_ptr<RecordRing> ring_in(const std::string& run_folder, const Clock& clock) {
  auto ring = std::make_unique<RecordRing>(
      feed::RecordMemory::in_file({.in_file = true, .run_folder = run_folder}, kSize.num_bytes())
          .take_or_raise(),
      kSize, clock);
  ring->publish().take_or_raise();
  return ring;
}

class FeedWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const before = std::getenv("XDG_RUNTIME_DIR");
    if (before != nullptr) before_ = before;
    ::setenv("XDG_RUNTIME_DIR", runtime_.path().c_str(), 1);
  }
  void TearDown() override {
    before_ ? ::setenv("XDG_RUNTIME_DIR", before_->c_str(), 1) : ::unsetenv("XDG_RUNTIME_DIR");
  }
  void hand_out(RecordRing& ring, int count) {
    for (int i = 0; i < count; ++i) {
      feed::BatchRecord record;
      record.number = ring.num_written();
      record.num_rows = 4;
      ring.put(record);
      const std::int64_t now_ns = clock_.now().count();
      ring.hand_out({.asked_ns = now_ns, .handed_ns = now_ns, .num_ready = 3, .num_workers = 2});
      clock_.advance(std::chrono::milliseconds(10));
    }
  }
  FeedWatch watch(FeedTarget target) { return {std::move(target), system_io(), {}, clock_}; }
  LiveFeed look(FeedWatch& watch) {
    const auto from = clock_.now();
    clock_.advance(std::chrono::seconds(1));
    return watch.look(from);
  }

  FakeClock clock_;
  ScratchFolder runtime_, run_;
  std::optional<std::string> before_;
};

TEST_F(FeedWatchTest, ARunIsFollowedFromBeforeItsBeginToItsEnd) {
  const std::string folder = run_ / "later";
  FeedWatch watched = watch({.run_folder = folder});
  EXPECT_EQ(look(watched).state, FeedState::kNotBegun);
  EXPECT_NE(look(watched).sentence.find("no such folder yet"), std::string::npos);
  fs::create_directory(folder);
  EXPECT_NE(look(watched).sentence.find("no records yet"), std::string::npos);
  auto ring = ring_in(folder, clock_);
  EXPECT_EQ(look(watched).state, FeedState::kStarting);
  EXPECT_EQ(watched.pid(), ::getpid());
  hand_out(*ring, 5);
  const LiveFeed running = look(watched);
  EXPECT_EQ(running.state, FeedState::kRunning);
  EXPECT_EQ(running.totals.batches, 5U);
  EXPECT_EQ(running.totals.clips, 20U);
  EXPECT_EQ(running.num_ready, 3U);
  EXPECT_EQ(running.sentence, "run " + folder);
  ring->end();
  EXPECT_EQ(look(watched).state, FeedState::kEnded);
  ring.reset();
  const LiveFeed ended = look(watched);
  EXPECT_EQ(ended.state, FeedState::kEnded);
  EXPECT_EQ(ended.totals.batches, 5U);
  EXPECT_NE(ended.sentence.find(": ended"), std::string::npos);
}

TEST_F(FeedWatchTest, AKilledProcessIsSaid) {
  auto ring = ring_in(run_.path(), clock_);
  hand_out(*ring, 2);
  FeedWatch watched = watch({.run_folder = run_.path()});
  EXPECT_EQ(look(watched).state, FeedState::kRunning);
  ring.reset();  // its lock is gone, and nothing was closed
  const LiveFeed killed = look(watched);
  EXPECT_EQ(killed.state, FeedState::kKilled);
  EXPECT_NE(killed.sentence.find("is gone"), std::string::npos);
}

TEST_F(FeedWatchTest, AResumedRunIsFollowedAndTotalsGoOn) {
  auto first = ring_in(run_.path(), clock_);
  hand_out(*first, 5);
  FeedWatch watched = watch({.run_folder = run_.path()});
  EXPECT_EQ(look(watched).totals.batches, 5U);
  hand_out(*first, 2);
  auto second = ring_in(run_.path(), clock_);
  hand_out(*second, 3);
  const LiveFeed resumed = look(watched);
  EXPECT_EQ(resumed.state, FeedState::kRunning);
  EXPECT_EQ(resumed.totals.batches, 10U);
  EXPECT_NE(resumed.sentence.find("begun anew"), std::string::npos);
}

TEST_F(FeedWatchTest, WhatTheRingForgotBeforeTheFirstLookIsCountedAndNotLost) {
  auto ring = ring_in(run_.path(), clock_);
  hand_out(*ring, 100);
  FeedWatch watched = watch({.run_folder = run_.path()});
  const LiveFeed seen = look(watched);
  EXPECT_EQ(seen.totals.batches, 100U);
  EXPECT_EQ(seen.totals.records_lost, 0U);
  EXPECT_EQ(seen.totals.clips, 8U * 4);
}

TEST_F(FeedWatchTest, OtherBytesAreSaidAndEndNothing) {
  run_.put("records.ring", "this is no ring of records");
  FeedWatch watched = watch({.run_folder = run_.path()});
  const LiveFeed seen = look(watched);
  EXPECT_EQ(seen.totals.batches, 0U);
  EXPECT_NE(seen.sentence.find("E-RECORDS-FORMAT"), std::string::npos) << seen.sentence;
}

TEST_F(FeedWatchTest, ACutRingIsSaid) {
  auto ring = ring_in(run_.path(), clock_);
  hand_out(*ring, 5);
  FeedWatch watched = watch({.run_folder = run_.path()});
  EXPECT_EQ(look(watched).state, FeedState::kRunning);
  hand_out(*ring, 1);
  fs::resize_file(run_ / "records.ring", 4096);
  EXPECT_EQ(look(watched).state, FeedState::kKilled);
  fs::resize_file(run_ / "records.ring", kSize.num_bytes());  // else the writer's end touches it
}

TEST_F(FeedWatchTest, AProcessIsFoundByItsNumberInBothPlaces) {
  FeedWatch watched = watch({.pid = ::getpid()});
  EXPECT_EQ(look(watched).state, FeedState::kNotBegun);
  auto of_run = ring_in(run_.path(), clock_);
  hand_out(*of_run, 3);
  EXPECT_EQ(look(watched).totals.batches, 3U);
  FeedWatch other = watch({.pid = ::getpid()});
  auto common = ring_in({}, clock_);
  hand_out(*common, 7);
  const LiveFeed busiest = look(other);
  EXPECT_EQ(busiest.totals.batches, 7U);
  EXPECT_NE(busiest.sentence.find("the busiest of its 2 feeds"), std::string::npos);
}

TEST_F(FeedWatchTest, AProcessThatIsNotThereIsSaid) {
  FeedWatch watched = watch({.pid = 1 << 30});
  const LiveFeed seen = look(watched);
  EXPECT_EQ(seen.state, FeedState::kNone);
  EXPECT_NE(seen.sentence.find("is not there"), std::string::npos);
}

TEST_F(FeedWatchTest, TheOnlyFeedOfTheUserIsFoundByItself) {
  FeedWatch watched = watch({});
  EXPECT_EQ(look(watched).state, FeedState::kNone);
  auto ring = ring_in({}, clock_);
  hand_out(*ring, 2);
  EXPECT_EQ(look(watched).totals.batches, 2U);
}

// A ring of another process: its name counts, its lock is held by us here.
TEST_F(FeedWatchTest, OfSeveralProcessesOneMustBeNamed) {
  auto ring = ring_in({}, clock_);
  auto other = ring_in(run_.path(), clock_);
  fs::create_hard_link(run_ / "records.ring", runtime_ / "stoker/77.ring");
  FeedWatch watched = watch({});
  const LiveFeed seen = look(watched);
  EXPECT_EQ(seen.state, FeedState::kNone);
  EXPECT_NE(seen.sentence.find("2 feeds run; --pid takes one of 77, "), std::string::npos)
      << seen.sentence;
}

TEST_F(FeedWatchTest, AFeedOfThisProcessIsReadFromMemory) {
  auto ring = std::make_shared<RecordRing>(feed::RecordMemory::in_process(kSize.num_bytes()), kSize,
                                           clock_);
  FeedTarget target;
  target.reader.emplace(std::shared_ptr<const RecordRing>(ring));
  FeedWatch watched = watch(std::move(target));
  EXPECT_EQ(look(watched).state, FeedState::kStarting);
  hand_out(*ring, 4);
  EXPECT_EQ(look(watched).totals.batches, 4U);
}

}  // namespace
}  // namespace stoker::observe
