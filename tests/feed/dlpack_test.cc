#include "stoker/feed/dlpack.h"

#include <gtest/gtest.h>

#include "tests/feed/device/simulated_device.h"

namespace stoker::feed {
namespace {

Feed make_feed(SimulatedGpu* gpu) {
  FeedSetup setup = synthetic_setup(std::make_shared<SyntheticSource>(speech_like_rows(40)));
  if (gpu != nullptr) setup.device = simulated_device(*gpu, {.buffer_size = 2});
  return Feed(std::move(setup));
}

TEST(DlpackTest, HostTensorsAreTheBatchItself) {
  Feed feed = make_feed(nullptr);
  auto batch = std::make_shared<Batch>(*feed.next());
  DlManagedTensor* const mel = export_dlpack(batch, BatchPart::kMel);
  EXPECT_EQ(mel->tensor.data, batch->mel().data);
  EXPECT_EQ(mel->tensor.device.type, 1);
  ASSERT_EQ(mel->tensor.num_axes, 3);
  EXPECT_EQ(mel->tensor.shape[1], batch->shape().num_frames);
  EXPECT_EQ(mel->tensor.type.code, 2);
  EXPECT_EQ(mel->tensor.type.bits, 16);
  DlManagedTensor* const lengths = export_dlpack(batch, BatchPart::kMelLen);
  ASSERT_EQ(lengths->tensor.num_axes, 1);
  EXPECT_EQ(static_cast<const std::int32_t*>(lengths->tensor.data)[0], batch->mel_len()[0]);
  mel->deleter(mel);
  lengths->deleter(lengths);
  EXPECT_EQ(batch.use_count(), 1);
}

TEST(DlpackTest, TheLastTensorGivesTheDeviceSlotBack) {
  SimulatedGpu gpu;
  Feed feed = make_feed(&gpu);
  const cuda::Stream stream(0, cuda::StreamPriority::kNormal, gpu);
  for (int i = 0; i < 6; ++i) {  // more batches than slots: each must have come back
    auto batch = std::make_shared<Batch>(*feed.next());
    DlManagedTensor* const mel = export_dlpack(batch, BatchPart::kMel, stream.view());
    DlManagedTensor* const tokens = export_dlpack(batch, BatchPart::kTokens, stream.view());
    EXPECT_EQ(mel->tensor.device.type, 2);
    EXPECT_EQ(tokens->tensor.type.code, 0);
    batch.reset();
    mel->deleter(mel);
    EXPECT_GE(feed.stats().ring->num_leased, 1U);
    tokens->deleter(tokens);
    EXPECT_EQ(feed.stats().ring->num_leased, 0U);
  }
}

}  // namespace
}  // namespace stoker::feed
