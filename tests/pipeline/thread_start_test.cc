// Threads that the system refuses to start: an error with its code, nothing left running, no hang.
#include <gtest/gtest.h>

#include "stoker/base/error.h"
#include "stoker/base/errors.h"
#include "stoker/pipeline/pipeline.h"
#include "tests/doubles/refused_threads.h"
#include "tests/pipeline/counting_filler.h"

namespace stoker::pipeline {
namespace {

TEST(ThreadStartTest, TheConstructorEndsWhatItStartedAndThrows) {
  constexpr unsigned kWorkers = 3;
  for (std::uint64_t number = 0; number <= kWorkers; ++number) {  // the watchdog is the last
    auto filler = std::make_shared<CountingFiller>(CountingFiller::kEndless);
    const std::weak_ptr<CountingFiller> trace = filler;
    const RefusedThreads refused(number);
    try {
      const Pipeline pipeline(std::move(filler), {.num_workers = kWorkers});
      FAIL() << "thread " << number << " was started";
    } catch (const MemoryError& error) {
      EXPECT_EQ(error.error().code, &kThreadStart);
    }
    EXPECT_TRUE(trace.expired()) << "a thread still holds the filler";
  }
}

TEST(ThreadStartTest, MoreWorkersThanCanStartLeaveThoseThereAre) {
  for (const unsigned at_first : {0U, 1U, 2U}) {
    auto filler = std::make_shared<CountingFiller>(100);
    Pipeline pipeline(filler, {.num_workers = at_first, .max_workers = 8});
    {
      const RefusedThreads refused(1);
      EXPECT_THROW(pipeline.set_num_workers(6), MemoryError);
    }
    EXPECT_EQ(pipeline.stats().fills.size(), at_first + 1);
    for (std::uint64_t expected = 0; expected < 50; ++expected)
      ASSERT_EQ(pipeline.next().sequence(), expected);
    pipeline.set_num_workers(6);
    EXPECT_EQ(pipeline.stats().fills.size(), 6U);
    for (std::uint64_t expected = 50; expected < 100; ++expected)
      ASSERT_EQ(pipeline.next().sequence(), expected);
    EXPECT_FALSE(pipeline.next());
  }
}

}  // namespace
}  // namespace stoker::pipeline
