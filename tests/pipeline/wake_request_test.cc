// A request for another worker: served once, and known to be unserved.
#include "stoker/pipeline/wake_request.h"

#include <gtest/gtest.h>

#include "stoker/base/thread/sync.h"
#include "stoker/pipeline/consumer_mark.h"

namespace stoker::pipeline {
namespace {

class CountingRequest final : public WakeRequest {
 public:
  int num_served = 0;

 private:
  void wake_workers() override {
    clear_request();
    ++num_served;
  }
};

TEST(WakeRequestTest, IsServedOnceAndTellsAnEarlierOneThatNobodyServed) {
  CountingRequest request;
  request.serve_if_posted();
  EXPECT_EQ(request.num_served, 0);
  EXPECT_FALSE(request.post());
  EXPECT_TRUE(request.post()) << "nobody came";
  request.serve_if_posted();
  request.serve_if_posted();
  EXPECT_EQ(request.num_served, 1);
  EXPECT_FALSE(request.post());
}

TEST(ConsumerMarkTest, IsTheThreadThatNotedItselfLast) {
  ConsumerMark mark;
  EXPECT_FALSE(mark.is_this_thread());
  EXPECT_FALSE(mark.core());
  mark.note_this_thread();
  EXPECT_TRUE(mark.is_this_thread());
  EXPECT_TRUE(mark.core());
  Thread("other", [&](const std::stop_token&) {
    EXPECT_FALSE(mark.is_this_thread());
    mark.note_this_thread();
  }).join();
  EXPECT_FALSE(mark.is_this_thread());
}

}  // namespace
}  // namespace stoker::pipeline
