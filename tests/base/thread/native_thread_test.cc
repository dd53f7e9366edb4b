#include "stoker/base/thread/native_thread.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "stoker/base/thread/sync.h"
#include "tests/doubles/sanitizers.h"

namespace stoker {
namespace {

TEST(NativeThreadTest, RunsItsBodyAndPassesAStopOn) {
  std::atomic<bool> stopped{false};
  NativeThread thread([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
    stopped = true;
  });
  NativeThread moved(std::move(thread));
  EXPECT_FALSE(thread.joinable());
  EXPECT_TRUE(moved.joinable());
  EXPECT_TRUE(moved.request_stop());
  moved.join();
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(moved.joinable());
}

TEST(NativeThreadTest, TheStackIsAsLargeAsTheSystemWouldMakeIt) {
  std::size_t size_bytes = 0;
  NativeThread thread([&](const std::stop_token&) {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &size_bytes);
    pthread_attr_destroy(&attributes);
  });
  thread.join();
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_getattr_default_np(&attributes), 0);
  std::size_t default_bytes = 0;
  pthread_attr_getstacksize(&attributes, &default_bytes);
  pthread_attr_destroy(&attributes);
  EXPECT_GE(size_bytes, default_bytes);
}

// From here on munmap ends with ENOMEM, as it does at vm.max_map_count.
bool refuse_unmapping() {
  const auto number = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  std::array<sock_filter, 4> code{sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, number},
                                  sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_munmap},
                                  sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOMEM},
                                  sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  sock_fprog filter{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

void end_threads_whose_stacks_stay() {
  constexpr int kThreads = 12;  // a C library that keeps 40 MiB of stacks keeps five
  std::atomic<int> num_run{0};
  std::vector<Thread> ended;
  for (int i = 0; i < kThreads; ++i)
    ended.emplace_back("ended", [&](const std::stop_token&) { ++num_run; });
  if (!refuse_unmapping()) std::fputs("no filter of system calls here: none was refused\n", stderr);
  for (Thread& thread : ended) thread.join();
  std::_Exit(num_run == kThreads ? 0 : 1);
}

TEST(NativeThreadDeathTest, AStackThatTheKernelDoesNotTakeBackIsNoFailure) {
  if (kUnderSanitizer) GTEST_SKIP() << "sanitizers unmap memory of their own";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end_threads_whose_stacks_stay(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stoker
