// What a filler throws becomes an error with batch, stage and file; the time it takes is counted.
#include "stoker/pipeline/fill_runner.h"

#include <gtest/gtest.h>

#include <new>

#include "stoker/pipeline/errors.h"
#include "tests/doubles/fake_clock.h"
#include "tests/pipeline/counting_filler.h"

namespace stoker::pipeline {
namespace {

constexpr ErrorCode kOwnCode{"E-TEST-OWN", ExitCode::kData, "A test's own.", "none"};

class FillRunnerTest : public testing::Test {
 protected:
  FillOutcome run(std::uint64_t sequence, unsigned worker = 0) {
    return runner.run({.ticket = {sequence, 0}, .worker = worker}, {});
  }
  // What comes of an exception in the stage "work" of number 5.
  template <class Thrown>
  Error error_of(const Thrown& thrown) {
    filler->during = [&](FillContext&, std::size_t stage) {
      if (stage == 1) throw Thrown(thrown);
    };
    return run(5).error.value();
  }

  FakeClock clock;
  std::shared_ptr<CountingFiller> filler = std::make_shared<CountingFiller>(10);
  FillRunner runner{filler, clock, 2};
};

TEST_F(FillRunnerTest, EveryExceptionGetsACode) {
  EXPECT_EQ(error_of(std::runtime_error("planted")).code, &kPipeWorker);
  EXPECT_EQ(error_of(std::bad_alloc()).code, &kPipeMemory);
  EXPECT_EQ(error_of(7).code, &kPipeWorker);
  EXPECT_EQ(error_of(DataError({.code = &kOwnCode})).code, &kOwnCode) << "its own stays";
}

TEST_F(FillRunnerTest, ErrorsNameBatchStageAndFile) {
  const Error error = error_of(std::runtime_error("planted"));
  EXPECT_EQ(error.found, "planted");
  EXPECT_EQ(error.place.file, "file5");
  EXPECT_EQ(error.action, "batch 5 stopped in stage work");
  EXPECT_EQ(error_of(DataError({.code = &kOwnCode, .place = {.file = "own"}})).place.file, "own");
}

TEST_F(FillRunnerTest, TellsAFilledSlotFromTheEnd) {
  EXPECT_EQ(run(9).end, FillEnd::kFilled);
  EXPECT_EQ(run(10).end, FillEnd::kPastEnd);
  EXPECT_EQ(filler->value(0), 81U);
}

TEST_F(FillRunnerTest, TheCallerUsesTheScratchOfWorkerZeroAndItsOwnNotes) {
  unsigned seen = 99;
  filler->during = [&](FillContext& context, std::size_t) { seen = context.worker(); };
  run(1, FillRunner::kCaller);
  EXPECT_EQ(seen, 0U);
  EXPECT_EQ(runner.activity_of(FillRunner::kCaller).num_fills(), 1U);
  EXPECT_EQ(runner.activity_of(0).num_fills(), 0U);
}

TEST_F(FillRunnerTest, BusyTimeIsThatOfAllByStage) {
  filler->during = [&](FillContext&, std::size_t stage) {
    clock.advance(std::chrono::milliseconds(10 * stage));
  };
  run(1, 0);
  run(2, 1);
  run(3, FillRunner::kCaller);
  ASSERT_EQ(runner.num_stages(), 3U);
  EXPECT_EQ(runner.busy_time(0), std::chrono::milliseconds(0));
  EXPECT_EQ(runner.busy_time(1), std::chrono::milliseconds(30));
  EXPECT_EQ(runner.busy_time(2), std::chrono::milliseconds(60));
}

TEST_F(FillRunnerTest, DescribesWhoIsDoingWhat) {
  std::string worker, caller;
  filler->during = [&](FillContext&, std::size_t stage) {
    if (stage != 2) return;
    worker = runner.describe(1);
    caller = runner.describe(FillRunner::kCaller);
  };
  run(4, 1);
  EXPECT_EQ(worker, "worker 1 in stage store of file4");
  run(6, FillRunner::kCaller);
  EXPECT_EQ(caller, "caller in stage store of file6");
}

}  // namespace
}  // namespace stoker::pipeline
