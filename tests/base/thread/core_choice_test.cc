// Threads that leave a core, and what they may do afterwards.
#include "stoker/base/thread/core_choice.h"

#include <gtest/gtest.h>

#include "stoker/base/cpu_count.h"
#include "stoker/base/thread/sync.h"

namespace stoker {
namespace {

int count_allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return CPU_COUNT(&set);
}

// In a thread of its own, so that a failure leaves the test program where it was.
void in_a_thread(const std::function<void()>& body) {
  Thread thread("core-choice", [&](const std::stop_token&) { body(); });
  thread.join();
}

TEST(CoreChoiceTest, TheCoresGivenAreThoseOfTheAffinity) {
  EXPECT_EQ(num_given_cores(), static_cast<unsigned>(count_allowed()));
}

TEST(CoreChoiceTest, AThreadLeavesTheCoreAndMayComeBackLater) {
  const int allowed = count_allowed();
  if (allowed < 2) GTEST_SKIP() << "one core";
  in_a_thread([&] {
    CoreChoice choice;
    std::optional<int> left;
    // The system may move the thread between the two calls: then it was not in the way.
    for (int tries = 0; tries < 1000 && count_allowed() == allowed; ++tries) {
      left = current_core();
      choice.keep_off(left);
    }
    EXPECT_EQ(count_allowed(), allowed - 1);
    EXPECT_NE(current_core(), left);
    choice.keep_off(left);
    EXPECT_EQ(count_allowed(), allowed - 1);
    choice.come_back();
    EXPECT_EQ(count_allowed(), allowed);
  });
}

TEST(CoreChoiceTest, AThreadThatIsNotInTheWayKeepsAllItsCores) {
  const int allowed = count_allowed();
  in_a_thread([&] {
    CoreChoice choice;
    choice.keep_off(CPU_SETSIZE - 1);
    EXPECT_EQ(count_allowed(), allowed);
    choice.keep_off(std::nullopt);
    EXPECT_EQ(count_allowed(), allowed);
  });
}

TEST(CoreChoiceTest, TheOnlyCoreIsNotLeft) {
  in_a_thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(current_core().value_or(0)), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    CoreChoice choice;
    choice.keep_off(current_core());
    EXPECT_EQ(count_allowed(), 1);
  });
}

}  // namespace
}  // namespace stoker
