// Batches taken as a trainer on a GPU does: every utterance of an epoch once, whatever the use.
#include "stoker/observe/device_source.h"

#include <gtest/gtest.h>

#include "tests/feed/device/simulated_device.h"

namespace stoker::observe {
namespace {

feed::Feed make_feed(SimulatedGpu* gpu) {
  auto store = std::make_shared<feed::SyntheticSource>(feed::speech_like_rows(60));
  feed::FeedSetup setup = feed::synthetic_setup(std::move(store));
  if (gpu != nullptr) {
    setup.device =
        feed::simulated_device(*gpu, {.payload = feed::SlotPayload::kRaggedPcm, .buffer_size = 3});
  }
  setup.num_epochs = 3;
  return feed::Feed(std::move(setup));
}

TEST(DeviceSourceTest, EveryUseTakesEveryClip) {
  for (const DeviceUse use : {DeviceUse::kPassThrough, DeviceUse::kOneAtATime}) {
    for (const bool is_on_device : {true, false}) {
      SimulatedGpu gpu;
      feed::Feed feed = make_feed(is_on_device ? &gpu : nullptr);
      DeviceSource source(feed, {.device = 0, .api = &gpu, .use = use});
      std::uint64_t num_clips = 0;
      while (const auto taken = source.take({})) num_clips += taken->num_clips;
      EXPECT_EQ(num_clips, 3 * 60U);
    }
  }
}

}  // namespace
}  // namespace stoker::observe
