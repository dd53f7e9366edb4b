// A thread that the system does not start ends a build or a check with its name, never with a wait.
#include <gtest/gtest.h>

#include <filesystem>

#include "stoker/base/errors.h"
#include "stoker/base/thread/parallel.h"
#include "tests/cache/small_world.h"
#include "tests/doubles/refused_threads.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::cache {
namespace {

constexpr unsigned kWorkers = 3;

const ErrorCode* code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.error().code;
  }
  return nullptr;
}

TEST(ThreadStartTest, ABuildWithoutOneOfItsThreadsEndsAndTheNextGivesTheSameBytes) {
  const ScratchFolder scratch;
  SmallWorld small(system_io(), scratch.path(), 40);
  small.write_sources();
  small.build(kWorkers);
  const auto expected = files_of(small.cache_path());
  std::uint64_t num_refused = 0;
  for (bool refused = true; refused; ++num_refused) {
    for (const bool only_one : {true, false}) {
      std::filesystem::remove_all(small.cache_path());
      {
        const RefusedThreads starts(num_refused, only_one ? num_refused : UINT64_MAX);
        const ErrorCode* const code = code_of([&] { small.build(kWorkers); });
        refused = starts.has_refused();
        EXPECT_EQ(code, refused ? &kThreadStart : nullptr) << "thread " << num_refused;
      }
      small.build(kWorkers);
      EXPECT_EQ(files_of(small.cache_path()), expected) << "thread " << num_refused;
    }
  }
  EXPECT_GT(num_refused, kWorkers + 1);
}

TEST(ThreadStartTest, WorkInParallelEndsWithTheRefusalAfterThoseThatRun) {
  for (std::uint64_t first = 0; first < 4; ++first) {
    const RefusedThreads starts(first);
    std::atomic<std::size_t> num_begun{0};
    std::atomic<std::size_t> num_done{0};
    EXPECT_EQ(code_of([&] {
                run_parallel(4, 1000, [&](std::size_t) {
                  ++num_begun;
                  ++num_done;
                });
              }),
              &kThreadStart);
    EXPECT_EQ(num_begun, num_done);
    EXPECT_EQ(starts.num_asked(), first + 1);
  }
}

}  // namespace
}  // namespace stoker::cache
