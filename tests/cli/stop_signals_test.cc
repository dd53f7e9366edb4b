#include "stoker/cli/stop_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

namespace stoker::cli {
namespace {

struct ChildEnd {
  int exit_code = -1;
  double seconds = 0;
};

// Runs `body` in a process of its own, sends it `signal_number`, and waits for its end.
ChildEnd end_after_signal(int signal_number, const std::function<int(StopSignals&)>& body) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    StopSignals signals;
    EXPECT_EQ(write(ready[1], "x", 1), 1);
    _exit(body(signals));
  }
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  const auto start = std::chrono::steady_clock::now();
  kill(child, signal_number);
  int status = 0;
  waitpid(child, &status, 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  close(ready[0]);
  close(ready[1]);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), took.count()};
}

int wait_for_stop(StopSignals& signals) {
  while (!signals.token().stop_requested())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return 128 + signals.received();
}

int never_look(StopSignals&) {
  std::this_thread::sleep_for(std::chrono::minutes(1));
  return 0;
}

TEST(StopSignalsTest, WorkThatLooksEndsAtOnce) {
  for (const int signal_number : {SIGINT, SIGTERM}) {
    const ChildEnd end = end_after_signal(signal_number, wait_for_stop);
    EXPECT_EQ(end.exit_code, 128 + signal_number);
    EXPECT_LT(end.seconds, 1.0);
  }
}

TEST(StopSignalsTest, WorkThatNeverLooksEndsWithinTwoSeconds) {
  const ChildEnd end = end_after_signal(SIGINT, never_look);
  EXPECT_EQ(end.exit_code, 130);
  EXPECT_LT(end.seconds, 2.0);
}

TEST(StopSignalsTest, WorkThatIsLeftHasLastWords) {
  int words[2];
  ASSERT_EQ(pipe(words), 0);
  const pid_t child = fork();
  if (child == 0) {
    StopSignals signals([&](int signal) {
      const char text = static_cast<char>(signal);
      EXPECT_EQ(write(words[1], &text, 1), 1);
    });
    kill(getpid(), SIGTERM);
    never_look(signals);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
  char said = 0;
  EXPECT_EQ(read(words[0], &said, 1), 1);
  EXPECT_EQ(said, SIGTERM);
}

TEST(StopSignalsTest, LeavesWithoutASignal) {
  const StopSignals signals;
  EXPECT_EQ(signals.received(), 0);
  EXPECT_FALSE(signals.token().stop_requested());
}

}  // namespace
}  // namespace stoker::cli
