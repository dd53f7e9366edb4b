// The feed when things go wrong: bad rows, exceptions, stalls, an early end.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "stoker/cache/errors.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/feed.h"
#include "stoker/pipeline/errors.h"
#include "tests/feed/synthetic_source.h"

namespace stoker::feed {
namespace {

using std::chrono::milliseconds;

constexpr ErrorCode kBadFile{"E-TEST-BAD", ExitCode::kData, "a file turned bad", ""};

std::shared_ptr<SyntheticSource> make_store(std::size_t num_rows) {
  return std::make_shared<SyntheticSource>(speech_like_rows(num_rows));
}

Result<void> bad_file(std::uint32_t row) {
  return Error{.code = &kBadFile, .found = "row " + std::to_string(row) + " is not what it was"};
}

TEST(FeedFaultTest, AFileThatTurnsBadLeavesAnEmptyRowAndNothingElseChanges) {
  Feed sound(synthetic_setup(make_store(40)));
  auto store = make_store(40);
  store->before_mel = [](std::uint32_t row) { return row == 7 ? bad_file(row) : Result<void>(); };
  for (const unsigned num_workers : {0U, 3U}) {
    FeedSetup setup = synthetic_setup(store);
    setup.loading.num_workers = num_workers;
    Feed feed(std::move(setup));
    sound.seek({0, 0});
    while (const auto expected = sound.next()) {
      const auto batch = feed.next();
      ASSERT_TRUE(batch.has_value());
      EXPECT_EQ(batch->ids_digest(), expected->ids_digest());
      EXPECT_EQ(batch->shape(), expected->shape());
      for (std::size_t at = 0; at < batch->num_rows(); ++at) {
        const bool is_bad = batch->id(at) == "utt7";
        EXPECT_EQ(batch->mel_len()[at], is_bad ? 0 : expected->mel_len()[at]);
        EXPECT_EQ(batch->text_len()[at], is_bad ? 0 : expected->text_len()[at]);
      }
    }
    ASSERT_EQ(feed.bad_rows().size(), 1U);
    EXPECT_EQ(feed.bad_rows()[0].id, "utt7");
    EXPECT_EQ(feed.bad_rows()[0].error.action, "row delivered empty");
    EXPECT_EQ(feed.stats().num_empty_bad, 1U);
  }
}

TEST(FeedFaultTest, PastTheBoundTheRunEndsWithExitThree) {
  auto store = make_store(100);
  store->before_mel = [](std::uint32_t row) { return row < 20 ? bad_file(row) : Result<void>(); };
  Feed feed(synthetic_setup(store));
  try {
    while (feed.next()) {
    }
    FAIL() << "20 bad rows of 100 were accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kFeedBadRows);
    EXPECT_EQ(failure.exit_code(), ExitCode::kData);
  }
}

TEST(FeedFaultTest, BadRowsOfTheIndexCountAgainstTheSameBound) {
  auto store = make_store(100);
  store->before_mel = [](std::uint32_t row) { return row < 3 ? bad_file(row) : Result<void>(); };
  FeedSetup setup = synthetic_setup(store);
  setup.bad_rows.already_bad = 6;
  setup.num_epochs = 1;  // a worker of the next epoch may meet the last bad row before this one's
  Feed feed(std::move(setup));
  EXPECT_THROW(while (feed.next()){}, DataError);
}

TEST(FeedFaultTest, WithBadInputsFailTheFirstOneEndsTheRun) {
  auto store = make_store(30);
  store->before_mel = [](std::uint32_t row) { return row == 3 ? bad_file(row) : Result<void>(); };
  FeedSetup setup = synthetic_setup(store);
  setup.bad_rows.fail_at_once = true;
  Feed feed(std::move(setup));
  try {
    while (feed.next()) {
    }
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &kBadFile);
    EXPECT_EQ(failure.error().place.file, "wavs/utt3.wav");
  }
}

TEST(FeedFaultTest, AStorageErrorEndsTheRunWithExitFour) {
  auto store = make_store(30);
  store->before_mel = [](std::uint32_t row) -> Result<void> {
    if (row == 5) return Error{.code = &cache::kShardCorrupt, .found = "other bytes"};
    return {};
  };
  Feed feed(synthetic_setup(store));
  try {
    while (feed.next()) {
    }
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit_code(), ExitCode::kStorage);
  }
}

TEST(FeedFaultTest, AnExceptionReachesTheConsumerWithStageAndFile) {
  auto store = make_store(30);
  store->before_mel = [](std::uint32_t row) -> Result<void> {
    if (row == 5) throw std::runtime_error("planted");
    return {};
  };
  Feed feed(synthetic_setup(store));
  try {
    while (feed.next()) {
    }
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().place.file, "wavs/utt5.wav");
    EXPECT_NE(failure.error().action.find("stage mel"), std::string::npos);
  }
}

TEST(FeedFaultTest, AStorageStallIsAbsorbedBelowTheLimitAndNamedAboveIt) {
  auto store = make_store(60);
  std::atomic<int> stalls = 1;
  milliseconds pause(400);
  store->before_mel = [&](std::uint32_t row) {
    if (row == 11 && stalls-- > 0) std::this_thread::sleep_for(pause);
    return Result<void>();
  };
  {
    FeedSetup setup = synthetic_setup(store);
    setup.loading.stall_limit = milliseconds(1500);
    Feed feed(std::move(setup));
    while (feed.next()) {
    }
    // A busy machine may hold up another stage as well.
    EXPECT_GE(feed.stats().pipeline.num_stage_stalls, 1U);
  }
  stalls = 1;
  pause = milliseconds(800);
  FeedSetup setup = synthetic_setup(store);
  setup.loading.stall_limit = milliseconds(200);
  Feed feed(std::move(setup));
  try {
    while (feed.next()) {
    }
    FAIL() << "no stall named";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, &pipeline::kPipeStall);
    EXPECT_EQ(failure.error().place.file, "wavs/utt11.wav");
  }
  std::this_thread::sleep_for(pause);
}

TEST(FeedFaultTest, AConsumerThatStopsEarlyLeavesNothingBehind) {
  std::weak_ptr<const SyntheticSource> trace;
  const Stopwatch watch;
  {
    const auto store = make_store(500);
    trace = store;
    Feed feed(synthetic_setup(store));
    const auto kept = feed.next();
    EXPECT_TRUE(kept.has_value());
  }
  EXPECT_LT(watch.seconds(), 2.0);
  EXPECT_TRUE(trace.expired());
}

TEST(FeedFaultTest, AStopTokenEndsTheFeedAtOnce) {
  auto store = make_store(500);
  store->before_mel = [](std::uint32_t) {
    std::this_thread::sleep_for(milliseconds(2));
    return Result<void>();
  };
  Feed feed(synthetic_setup(store));
  std::stop_source stop;
  const Thread other("stop", [&](const std::stop_token&) {
    std::this_thread::sleep_for(milliseconds(30));
    stop.request_stop();
  });
  const Stopwatch watch;
  while (feed.next(stop.get_token())) {
  }
  EXPECT_LT(watch.seconds(), 1.0);
}

}  // namespace
}  // namespace stoker::feed
